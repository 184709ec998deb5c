#include "stages/analytic_signal/spectrum_kernels.hpp"

#include "stages/analytic_signal/analytic_signal_math.hpp"
#include "stages/analytic_signal/spectrum_kernels_loop.hpp"

namespace echoform {

PairKernel pair_kernel(SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::avx512) return &multiply_pairs_avx512;
  if (level == SimdLevel::avx2) return &multiply_pairs_avx2;
#endif
  return &multiply_pairs_portable;
}

void multiply_pairs_portable(float* spectrum, const float* roots, const float* gains, std::size_t half) {
  multiply_pairs<OneComplex>(spectrum, roots, gains, half);
}

ResponseKernel response_kernel(SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::avx512) return &filter_pairs_avx512;
  if (level == SimdLevel::avx2) return &filter_pairs_avx2;
#endif
  return &filter_pairs_portable;
}

void filter_pairs_portable(const float* spectrum, float* product, const ResponseFactors& factors, std::size_t half) {
  filter_pairs<OneComplex>(spectrum, product, factors, half);
}

void filter_spectrum(const float* spectrum, float* product, const float* factors, std::size_t bins) {
  for (std::size_t k = 0; k < 2 * bins; k += 2) {
    product[k] = spectrum[k] * factors[k] - spectrum[k + 1] * factors[k + 1];
    product[k + 1] = spectrum[k] * factors[k + 1] + spectrum[k + 1] * factors[k];
  }
}

void multiply_spectrum(float* spectrum, const float* factors, std::size_t bins) {
  for (std::size_t k = 0; k < bins; ++k) multiply_by_imaginary(spectrum[2 * k], spectrum[2 * k + 1], factors[k]);
}

}  // namespace echoform
