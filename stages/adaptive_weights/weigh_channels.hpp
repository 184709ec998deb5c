// Adaptive weights on CUDA that need the channels of a point themselves. A block of threads works on one point. For *.cu and
// *_cuda.cpp files.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "stages/adaptive_weights/adaptive_weights.hpp"
#include "stages/adaptive_weights/channel_sizes.hpp"

namespace echoform::gpu {

/// Channels of the points of some lines, in device memory, and where the results go.
struct ChannelWeighing {
  AdaptiveOnCuda kind = AdaptiveOnCuda::none;
  bool complex = false;             ///< whether a channel has two floats, both of which count as points of correlations;
                                    ///< else it has one
  const float* channels = nullptr;  ///< [line, point, pitch]
  const float* weights = nullptr;   ///< [line, point, pitch], one float each; 0: the channel is left out
  std::uint32_t lines = 0;
  std::uint32_t points = 0;
  std::uint32_t pitch = 0;  ///< channels of a point, a multiple of channel_step
  std::uint32_t half_window = 0;
  double part = 0.0;  ///< gamma, q or lambda
  double loading = 0.0;
  const float* divisor = nullptr;  ///< [line, divisor_pitch]: factors of the sums; null: sums are multiplied by `scale`
  std::size_t divisor_pitch = 0;
  float scale = 1.0F;
  bool by_weight = false;  ///< amplitudes are multiplied by `scale` and the sum of the weights
  float* out = nullptr;    ///< the result of line l and point k is at l out_line + k out_point
  std::size_t out_line = 0;
  std::size_t out_point = 1;
  bool complex_out = false;  ///< whether a result has two floats
  /// Memory of weighing_workspace_bytes() for Capon's matrix, used where shared memory is too small.
  void* workspace = nullptr;
};

/// A ChannelWeighing with what follows from the options: all members except memory, sizes and scale.
[[nodiscard]] ChannelWeighing channel_weighing(const AdaptiveOptions& options);

/// Bytes of `workspace` on the current device: channel_workspace_bytes(), and as much for smaller matrices where a block may not
/// have the shared memory (compute capability 8.6, 8.9 and 12.0 lend 99 KiB, 8.0 163, 9.0 227).
[[nodiscard]] std::size_t weighing_workspace_bytes(const ChannelWeighing& weighing);
/// Prepares a launch. Called once at set-up, before the first launch, when `weighing` has its workspace.
void prepare_weigh_channels(const ChannelWeighing& weighing);
/// Queues the kernel.
void launch_weigh_channels(const ChannelWeighing& weighing, cudaStream_t stream) noexcept;

}  // namespace echoform::gpu
