// Launch of spectral unmixing on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "stages/unmixing/unmixing_math.hpp"

namespace echoform {

struct UnmixingWork {
  const float* images[most_unmixed_wavelengths] = {};
  std::size_t strides[most_unmixed_wavelengths] = {};  ///< of rows, in floats
  UnmixingTables tables;                               ///< in device memory
  const float* non_negative = nullptr;                 ///< in device memory: 0 or 1
  float* out = nullptr;                                ///< [component, row, column]
  std::size_t rows = 0;
  std::size_t columns = 0;
};

void launch_unmixing(const UnmixingWork& work, cudaStream_t stream) noexcept;

}  // namespace echoform
