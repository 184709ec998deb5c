// Adaptive weights along lines on CUDA. For *.cu and *_cuda.cpp files.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "stages/adaptive_weights/channel_sums.hpp"
#include "stages/scan_lines/line_sum_launch.hpp"

namespace echoform::gpu {

/// Of weights that follow from sums over the channels. In device memory, [line, pitch] each, as PointSums has them.
struct LineSumsBeside {
  ChannelSums sums = ChannelSums::squares;
  std::uint32_t low_frequencies = 0;
  std::uint32_t half_window = 0;
  bool by_weight = false;  ///< of roots: times the sum of the weights
  const float* weight = nullptr;
  const float* pairs = nullptr;
  const float* cosine = nullptr;
  float* sum = nullptr;
  float* second = nullptr;
  float* low = nullptr;
};

/// Queues the kernel that fills `sum`, `second` and `low`; `out` and `facts` of the sums are not touched.
void launch_sums_beside(const LineSums& sums, const LineSumsBeside& beside, cudaStream_t stream) noexcept;

/// Queues the kernel that makes `out` and `facts` of them.
void launch_weighed_lines(const LineSums& sums, const LineSumsBeside& beside, cudaStream_t stream) noexcept;

/// Channels of some lines, delayed: of each receiver on a line, whether it is heard there or not.
struct LineChannels {
  std::uint32_t first_line = 0;
  std::uint32_t lines = 0;
  std::uint32_t pitch = 0;  ///< receivers, a multiple of 32; those that a line has not weigh 0
  float* values = nullptr;  ///< [line, range, pitch], of complex rows complex
  float* weights = nullptr;
};

/// Queues the kernel that fills them.
void launch_align_channels(const LineSums& sums, const LineChannels& to, cudaStream_t stream) noexcept;

/// Queues the kernel that adds what else belongs to lines in `out`: zeros behind them, and their facts.
void launch_close_lines(const LineSums& sums, cudaStream_t stream) noexcept;

}  // namespace echoform::gpu
