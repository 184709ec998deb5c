// Launch of the gain of lines on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace echoform {

struct LineGainRows {
  const float* in = nullptr;
  float* out = nullptr;         ///< rows without gaps
  const float* gain = nullptr;  ///< by row
  std::size_t in_stride = 0;    ///< of rows, in floats
  std::size_t ranges = 0;
};

/// Queues out[row, n] = gain[row] in[row, n].
void launch_line_gain(const LineGainRows& work, std::size_t lines, cudaStream_t stream) noexcept;

}  // namespace echoform
