// What stages that read raw A-scans know of their encoding.
#pragma once

#include <cstddef>
#include <string_view>

#include "pipeline/block.hpp"

namespace echoform {

/// Type of the blocks in which A-scans of an encoding arrive.
[[nodiscard]] ElementType raw_element_type(SampleEncoding encoding);
/// And back; int16, packed12 or float32 only.
[[nodiscard]] SampleEncoding encoding_of(ElementType type);
/// Distance of the rows of a raw block in bytes.
[[nodiscard]] std::size_t raw_row_bytes(const BlockSpec& raw);
/// Bytes that `samples` samples of a row take: of an even number of them, where two share three bytes.
[[nodiscard]] std::size_t raw_bytes(ElementType type, std::size_t samples);

/// The block in which frames of `acquisition` arrive: [a_scans, samples], rows without gaps.
[[nodiscard]] BlockSpec raw_block(const Acquisition& acquisition);

/// Throws InputError naming `stage` unless the scale is finite, not 0, and is neither as a float.
void require_sample_scale(double sample_scale, std::string_view stage);

/// Output beyond this many bytes is written past the caches: keeping it would only push other data out.
inline constexpr std::size_t streaming_bytes = std::size_t{32} << 20;

}  // namespace echoform
