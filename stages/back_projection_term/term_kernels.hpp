// The loop of back-projection terms.
#pragma once

#include <cstddef>

#include "cpu/cpu_backend.hpp"
#include "stages/back_projection_term/back_projection_term_math.hpp"

namespace echoform {

/// Of `count` samples at `p`, with DerivativeWeights::reach more on either side; `value` and `slope` by sample.
using TermKernel = void (*)(const float* p, const float* value, const float* slope, const DerivativeWeights& weights, float* out,
                            std::size_t count);

/// All levels give the same bits.
[[nodiscard]] TermKernel term_kernel(SimdLevel level);

void term_row_portable(const float* p, const float* value, const float* slope, const DerivativeWeights& weights, float* out,
                       std::size_t count);
void term_row_avx2(const float* p, const float* value, const float* slope, const DerivativeWeights& weights, float* out,
                   std::size_t count);
void term_row_avx512(const float* p, const float* value, const float* slope, const DerivativeWeights& weights, float* out,
                     std::size_t count);

}  // namespace echoform
