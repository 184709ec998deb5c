#include "stages/envelope/envelope_kernels_body.hpp"

namespace echoform {

void envelope_row_avx512(const float* re, const float* im, std::size_t step, float* out, std::size_t count) {
  envelope_row(re, im, step, out, count);
}

}  // namespace echoform
