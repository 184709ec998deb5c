// Adaptive weights on CUDA that want the channels of a point themselves: a block of threads a point. For *.cu and *_cuda.cpp
// files.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "stages/adaptive_weights/adaptive_weights.hpp"
#include "stages/adaptive_weights/channel_sizes.hpp"

namespace echoform::gpu {

/// Channels of the points of some lines, in device memory, and what becomes of them.
struct ChannelWeighing {
  AdaptiveOnCuda kind = AdaptiveOnCuda::none;
  bool complex = false;             ///< channels of two floats each, both points of correlations; else of one
  const float* channels = nullptr;  ///< [line, point, pitch]
  const float* weights = nullptr;   ///< likewise, of one float; 0: not heard
  std::uint32_t lines = 0;
  std::uint32_t points = 0;
  std::uint32_t pitch = 0;  ///< channels of a point, a multiple of channel_step
  std::uint32_t half_window = 0;
  double part = 0.0;  ///< gamma, q or lambda
  double loading = 0.0;
  const float* divisor = nullptr;  ///< [line, divisor_pitch]: what sums are multiplied by; null: `scale`
  std::size_t divisor_pitch = 0;
  float scale = 1.0F;
  bool by_weight = false;  ///< amplitudes are multiplied by `scale` and the sum of the weights
  float* out = nullptr;    ///< of line l and point k at l out_line + k out_point
  std::size_t out_line = 0;
  std::size_t out_point = 1;
  bool complex_out = false;  ///< of two floats each
  /// What Capon's matrix is made in where shared memory is too small: weighing_workspace_bytes().
  void* workspace = nullptr;
};

/// Of the options: all but memory, sizes and scale.
[[nodiscard]] ChannelWeighing channel_weighing(const AdaptiveOptions& options);

/// Bytes of `workspace` on the current device: channel_workspace_bytes(), and as much for smaller matrices where a block may not
/// have the shared memory (compute capability 8.6, 8.9 and 12.0 lend 99 KiB, 8.0 163, 9.0 227).
[[nodiscard]] std::size_t weighing_workspace_bytes(const ChannelWeighing& weighing);
/// Before the first launch, at set-up, with its workspace.
void prepare_weigh_channels(const ChannelWeighing& weighing);
/// Queues the kernel.
void launch_weigh_channels(const ChannelWeighing& weighing, cudaStream_t stream) noexcept;

}  // namespace echoform::gpu
