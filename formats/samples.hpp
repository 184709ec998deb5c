// Samples of frames in the encodings of the wire, as numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "acquisition/acquisition.hpp"

namespace echoform::formats {

/// One A-scan of packed12: two's complement of 12 bits, low bits first, two samples in three bytes. `bytes` holds
/// (3 * counts.size() + 1) / 2.
void unpack12(std::span<const std::byte> bytes, std::span<std::int16_t> counts) noexcept;

/// Counts of a frame in int16 or packed12: a_scans * samples of them. `frame` has frame_bytes().
void frame_counts(const Acquisition& acquisition, std::span<const std::byte> frame, std::span<std::int16_t> counts) noexcept;

/// Amplitudes of a frame in any encoding: counts times sample_scale, rounded once; float32 as it is.
void frame_amplitudes(const Acquisition& acquisition, std::span<const std::byte> frame, std::span<float> amplitudes);
void frame_amplitudes(const Acquisition& acquisition, std::span<const std::byte> frame, std::span<double> amplitudes);

/// Place of the first sample that is infinite or no number. Costs a fraction of copying them.
[[nodiscard]] std::optional<std::size_t> first_not_finite(std::span<const float> samples) noexcept;

}  // namespace echoform::formats
