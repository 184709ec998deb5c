#include "stages/analytic_signal/spectrum_kernels.hpp"

#include "stages/analytic_signal/analytic_signal_math.hpp"

namespace echoform {

SpectrumKernel spectrum_kernel(SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::avx512) return &multiply_spectrum_avx512;
  if (level == SimdLevel::avx2) return &multiply_spectrum_avx2;
#endif
  return &multiply_spectrum_portable;
}

void multiply_spectrum_portable(float* spectrum, const float* factors, std::size_t bins) {
  for (std::size_t k = 0; k < bins; ++k) multiply_by_imaginary(spectrum[2 * k], spectrum[2 * k + 1], factors[k]);
}

}  // namespace echoform
