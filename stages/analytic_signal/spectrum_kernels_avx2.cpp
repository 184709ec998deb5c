#include "stages/analytic_signal/analytic_signal_math.hpp"
#include "stages/analytic_signal/spectrum_kernels.hpp"

namespace echoform {

void multiply_spectrum_avx2(float* spectrum, const float* factors, std::size_t bins) {
  for (std::size_t k = 0; k < bins; ++k) multiply_by_imaginary(spectrum[2 * k], spectrum[2 * k + 1], factors[k]);
}

}  // namespace echoform
