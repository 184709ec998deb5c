// Functions that the implementations of adaptive weights of pixels share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stages/beamform/adaptive_beamform.hpp"

namespace echoform::beamform {

/// Throws InputError if the options contradict each other, or request what is not supported for pixels.
void check_adaptive(const AdaptiveBeamformOptions& options);
/// Throws InputError unless the input has the rows of the options, in the form that the backend uses.
void require_adaptive_input(const BeamformOptions& options, const BlockSpec& input, BackendKind backend);

/// The receivers that are alive and have some row.
[[nodiscard]] std::vector<std::uint32_t> live_receivers(const BeamformOptions& options);

/// Device memory that the implementation on CUDA takes, in bytes: tables of delays and rows, and memory for the sums or
/// channels of pixels.
struct AdaptivePixelSizes {
  std::size_t tables = 0;
  std::size_t pixels = 0;
};
[[nodiscard]] AdaptivePixelSizes adaptive_pixel_sizes(const AdaptiveBeamformOptions& options);

}  // namespace echoform::beamform
