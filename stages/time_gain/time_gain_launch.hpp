// Launch of the time gain on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace echoform {

struct TimeGainRows {
  const float* in = nullptr;
  float* out = nullptr;
  const float* gain = nullptr;  ///< by sample
  std::size_t in_stride = 0;    ///< of rows, in floats
  std::size_t out_stride = 0;
};

/// Queues out[row, n] = gain[n] in[row, n]. `out` may be `in`, with the same stride.
void launch_time_gain(const TimeGainRows& work, std::size_t rows, std::size_t samples, cudaStream_t stream) noexcept;

}  // namespace echoform
