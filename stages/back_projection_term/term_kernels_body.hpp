// The loop of term_kernels.hpp, included once by each translation unit that is built for an instruction set.
#pragma once

#include "stages/back_projection_term/term_kernels.hpp"

namespace echoform {
namespace {

void term_row(const float* p, const float* value, const float* slope, const DerivativeWeights& weights, float* __restrict out,
              std::size_t count) {
  for (std::size_t n = 0; n < count; ++n) out[n] = projected_term(p + n, {value[n], slope[n]}, weights);
}

}  // namespace
}  // namespace echoform
