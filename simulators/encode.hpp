// Encodes samples as an instrument does: counts of a 12-bit converter, then one of the encodings of the wire.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "acquisition/acquisition.hpp"

namespace echoform {

inline constexpr int converter_minimum = -2048;  ///< two's complement of 12 bits
inline constexpr int converter_maximum = 2047;

/// counts[n] = values[n] * counts_per_unit, to the nearest integer (halves to even), held within the converter's range.
/// Lengths are equal; values are finite.
void quantise12(std::span<const float> values, float counts_per_unit, std::span<std::int16_t> counts) noexcept;

/// Packs counts of -2048 .. 2047 as two's complement, low bits first, two in three bytes; an odd last one takes two bytes,
/// whose upper four bits are 0. `bytes` holds (3 * counts.size() + 1) / 2. Counts outside the range keep their low 12 bits.
void pack12(std::span<const std::int16_t> counts, std::span<std::byte> bytes) noexcept;

/// Writes one A-scan of counts as `encoding`; float32 is count * sample_scale. `bytes` has the encoding's size for it.
void encode_counts(std::span<const std::int16_t> counts, SampleEncoding encoding, double sample_scale,
                   std::span<std::byte> bytes) noexcept;

}  // namespace echoform
