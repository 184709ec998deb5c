#include "stages/back_projection_term/term_kernels_body.hpp"

namespace echoform {

void term_row_avx512(const float* p, const float* value, const float* slope, const DerivativeWeights& weights, float* out,
                     std::size_t count) {
  term_row(p, value, slope, weights, out, count);
}

}  // namespace echoform
