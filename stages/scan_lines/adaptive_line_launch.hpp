// Adaptive weights along lines on CUDA. For *.cu and *_cuda.cpp files.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "stages/adaptive_weights/channel_sums.hpp"
#include "stages/scan_lines/line_sum_launch.hpp"

namespace echoform::gpu {

/// Arguments for weights that follow from sums over the channels. Arrays are in device memory, [line, pitch] each, with the
/// meanings of PointSums.
struct LineSumsBeside {
  ChannelSums sums = ChannelSums::squares;
  std::uint32_t low_frequencies = 0;
  std::uint32_t half_window = 0;
  bool by_weight = false;  ///< for roots: the result is multiplied by the sum of the weights
  const float* weight = nullptr;
  const float* pairs = nullptr;
  const float* cosine = nullptr;
  float* sum = nullptr;
  float* second = nullptr;
  float* low = nullptr;
};

/// Queues the kernel that fills `sum`, `second` and `low`; `out` and `facts` of the sums are not touched.
void launch_sums_beside(const LineSums& sums, const LineSumsBeside& beside, cudaStream_t stream) noexcept;

/// Queues the kernel that computes `out` and `facts` from these sums.
void launch_weighed_lines(const LineSums& sums, const LineSumsBeside& beside, cudaStream_t stream) noexcept;

/// Delayed channels of some lines: those of all receivers on a line, whether or not they contribute there.
struct LineChannels {
  std::uint32_t first_line = 0;
  std::uint32_t lines = 0;
  std::uint32_t pitch = 0;  ///< receivers, a multiple of 32; those that a line lacks have weight 0
  float* values = nullptr;  ///< [line, range, pitch]; complex for complex rows
  float* weights = nullptr;
};

/// Queues the kernel that fills `to`.
void launch_align_channels(const LineSums& sums, const LineChannels& to, cudaStream_t stream) noexcept;

/// Queues the kernel that completes lines in `out`: zeros after them, and their facts.
void launch_close_lines(const LineSums& sums, cudaStream_t stream) noexcept;

}  // namespace echoform::gpu
