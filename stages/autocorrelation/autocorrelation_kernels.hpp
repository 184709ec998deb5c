// The loop of the autocorrelation over one line.
#pragma once

#include <cstddef>

#include "cpu/cpu_backend.hpp"

namespace echoform {

/// One line. Numbers of a row are `step` floats apart, 1 or 2, and the imaginary part of each is `quadrature` floats after
/// its real part.
struct AutocorrelationTask {
  const float* samples = nullptr;  ///< the first sample of the line
  std::size_t row_stride = 0;      ///< from a sample to the next, in floats
  std::size_t step = 1;
  std::size_t quadrature = 0;
  std::size_t ensemble = 0;
  std::size_t count = 0;  ///< ranges
  float* power = nullptr;
  float* turn_re = nullptr;
  float* turn_im = nullptr;
};

/// All levels give the same bits.
using AutocorrelationKernel = void (*)(const AutocorrelationTask& task);
[[nodiscard]] AutocorrelationKernel autocorrelation_kernel(SimdLevel level);
void autocorrelate_portable(const AutocorrelationTask& task);
void autocorrelate_avx2(const AutocorrelationTask& task);
void autocorrelate_avx512(const AutocorrelationTask& task);

}  // namespace echoform
