#include "stages/envelope/envelope_kernels.hpp"
#include "stages/envelope/envelope_math.hpp"

namespace echoform {

void envelope_row_avx2(const float* complex, float* out, std::size_t count) {
  for (std::size_t n = 0; n < count; ++n) out[n] = magnitude(complex[2 * n], complex[2 * n + 1]);
}

}  // namespace echoform
