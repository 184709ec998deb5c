#include "benchmarks/reference_tfm.hpp"

namespace echoform::reference {

void total_focusing_loop(const std::complex<float>* data, const float* delays, std::complex<float>* image, std::size_t elements,
                         std::size_t samples, std::size_t pixels, int threads) {
  const float limit = static_cast<float>(samples - 1);
#pragma omp parallel for schedule(dynamic, 64) num_threads(threads)
  for (std::size_t p = 0; p < pixels; ++p) {
    const float* tau = delays + p * elements;
    float in_phase = 0.0F;
    float quadrature = 0.0F;
    const std::complex<float>* row = data;
    for (std::size_t i = 0; i < elements; ++i) {
      for (std::size_t j = i; j < elements; ++j, row += samples) {
        const float u = tau[i] + tau[j];
        if (u >= 0.0F && u < limit) {
          const int n = static_cast<int>(u);
          const float f = u - static_cast<float>(n);
          const std::complex<float> a = row[n];
          const std::complex<float> b = row[n + 1];
          in_phase += a.real() + f * (b.real() - a.real());
          quadrature += a.imag() + f * (b.imag() - a.imag());
        }
      }
    }
    image[p] = {in_phase, quadrature};
  }
}

const char* build_flags() {
  return "g++ " __VERSION__ ", " ECHOFORM_REFERENCE_FLAGS;
}

}  // namespace echoform::reference
