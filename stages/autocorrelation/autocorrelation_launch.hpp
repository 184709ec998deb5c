// Launch of the autocorrelation on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace echoform {

/// Arguments of a launch, whose pointers are to device memory. Numbers of a row are `step` floats apart, and the imaginary
/// part of each is `quadrature` floats after its real part.
struct AutocorrelationWork {
  const float* in = nullptr;
  float* out = nullptr;
  std::size_t in_stride = 0;  ///< from a sample to the next, in floats
  std::size_t step = 1;
  std::size_t quadrature = 0;
  std::size_t lines = 0;
  std::size_t ensemble = 0;
  std::size_t ranges = 0;
  std::size_t half_window = 0;
  std::size_t out_stride = 0;  ///< of rows; numbers beyond the ranges become 0
};

void launch_autocorrelation(const AutocorrelationWork& work, cudaStream_t stream) noexcept;

}  // namespace echoform
