// Launches of images of unmixed components on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace echoform {

struct UnmixedRows {
  const float* component = nullptr;
  const float* other = nullptr;  ///< for a share, else null
  std::size_t in_stride = 0;     ///< of rows, in floats
  std::size_t rows = 0;
  std::size_t columns = 0;
  float* out = nullptr;               ///< rows without gaps
  std::uint32_t* greatest = nullptr;  ///< for a share: bits of the greatest sum, in device memory
  const double* threshold = nullptr;  ///< likewise, in device memory
};

/// Queues the kernels: a copy of the component, or the search for the greatest sum and then the share.
void launch_unmixed_image(const UnmixedRows& work, cudaStream_t stream) noexcept;

}  // namespace echoform
