// The memory that CUDA takes for adaptive weights that need the channels of a point. Free of CUDA's headers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stages/adaptive_weights/adaptive_weights.hpp"

namespace echoform::gpu {

/// Channels of a point are padded to a multiple of this many.
inline constexpr std::uint32_t channel_step = 32;
/// Maximum number of channels of a point.
inline constexpr std::uint32_t most_channels = 8192;

[[nodiscard]] constexpr std::uint32_t padded_channels(std::size_t channels) {
  return static_cast<std::uint32_t>((channels + channel_step - 1) / channel_step * channel_step);
}

/// Throws InputError, naming `stage`, if `channels` exceeds most_channels.
void require_channels(std::size_t channels, const char* stage);

/// Bytes of Capon's matrix for at most `pitch` channels.
[[nodiscard]] std::size_t capon_matrix_bytes(double subarray, std::uint32_t pitch);
/// Whether Capon's matrix fits into the shared memory of a block.
[[nodiscard]] bool has_shared_matrix(double subarray, std::uint32_t pitch);
/// Number of blocks that work at a time where each keeps its Capon's matrix in device memory.
inline constexpr std::size_t blocks_with_workspace = 256;
/// Bytes of device memory for the matrices of these blocks; 0 where shared memory suffices.
[[nodiscard]] std::size_t channel_workspace_bytes(const AdaptiveOptions& options, std::uint32_t pitch);

/// How many lines have their channels in memory at a time, and the bytes that this takes.
struct ChannelSizes {
  std::uint32_t pitch = 0;
  std::uint32_t lines_at_once = 0;
  std::size_t values = 0;  ///< bytes
  std::size_t weights = 0;
  std::size_t workspace = 0;

  [[nodiscard]] std::size_t bytes() const { return values + weights + workspace; }
};

/// Sizes for `lines` lines of `points` points, whose channels have `floats` numbers each: as many lines at a time as about
/// 64 MiB hold, at least one.
[[nodiscard]] ChannelSizes channel_sizes(const AdaptiveOptions& options, std::size_t lines, std::size_t points,
                                         std::size_t channels, std::size_t floats);

}  // namespace echoform::gpu
