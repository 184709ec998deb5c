// What implementations of adaptive weights of pixels have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stages/beamform/adaptive_beamform.hpp"

namespace echoform::beamform {

/// Throws InputError if the options contradict each other, or ask for what pixels cannot have.
void check_adaptive(const AdaptiveBeamformOptions& options);
/// Throws InputError unless the input has the rows of the options, as the backend has them.
void require_adaptive_input(const BeamformOptions& options, const BlockSpec& input, BackendKind backend);

/// Those that are alive and have some row.
[[nodiscard]] std::vector<std::uint32_t> live_receivers(const BeamformOptions& options);

/// Device memory that CUDA's takes, in bytes: tables of delays and rows, then what pixels' sums or channels are in.
struct AdaptivePixelSizes {
  std::size_t tables = 0;
  std::size_t pixels = 0;
};
[[nodiscard]] AdaptivePixelSizes adaptive_pixel_sizes(const AdaptiveBeamformOptions& options);

}  // namespace echoform::beamform
