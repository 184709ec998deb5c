// Launch of the persistence on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace echoform {

struct FadingRows {
  const float* in = nullptr;
  float* out = nullptr;          ///< rows without gaps
  float* before = nullptr;       ///< the image that is kept, rows without gaps
  const float* share = nullptr;  ///< in device memory: it may change between frames
  std::size_t in_stride = 0;     ///< of rows, in floats
};

/// Queues out = faded(before, in, share); before = kept_of(before, out).
void launch_persistence(const FadingRows& work, std::size_t rows, std::size_t columns, cudaStream_t stream) noexcept;

}  // namespace echoform
