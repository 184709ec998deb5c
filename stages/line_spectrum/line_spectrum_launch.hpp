// Launch of spectra on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace echoform {

/// Arguments of a launch. Pointers are to device memory. The gate is there, too, since it may change between frames.
struct LineSpectrumWork {
  const float* in = nullptr;
  float* out = nullptr;            ///< [spectra, bins]
  const float* gate = nullptr;     ///< line, first range, ranges
  const float* taper = nullptr;    ///< [samples]
  const float* turn_re = nullptr;  ///< [samples, bins]
  const float* turn_im = nullptr;
  std::size_t in_stride = 0;   ///< of rows, in floats
  std::size_t step = 1;        ///< from a range to the next, in floats
  std::size_t quadrature = 1;  ///< from I to Q, in floats
  std::size_t ensemble = 0;
  std::size_t samples = 0;
  std::size_t hop = 1;
  std::size_t bins = 0;
  std::size_t spectra = 0;
};

void launch_line_spectrum(const LineSpectrumWork& work, cudaStream_t stream) noexcept;

}  // namespace echoform
