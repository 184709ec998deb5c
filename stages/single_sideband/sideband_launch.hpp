// The kernel of single-sideband on CUDA. For *.cu and *_cuda.cpp files.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace echoform::gpu {

/// Spectra of lines, interleaved complex numbers.
struct LineSpectra {
  float2* data = nullptr;
  std::size_t rows = 0;
  std::size_t samples = 0;
  std::size_t stride = 0;  ///< in complex numbers
};

/// Combines both sidebands into one in `bins` bins about 0, divides all bins by the number of samples, because the inverse
/// transform is unscaled, and writes zeros after each row.
void launch_one_sideband(const LineSpectra& spectra, std::size_t bins, cudaStream_t stream) noexcept;

}  // namespace echoform::gpu
