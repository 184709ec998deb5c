// The loop of back-projection terms.
#pragma once

#include <cstddef>

#include "cpu/cpu_backend.hpp"
#include "stages/back_projection_term/back_projection_term_math.hpp"

namespace echoform {

/// Writes the terms of `count` samples at `p`, which has DerivativeWeights::reach more samples on either side. `value` and
/// `slope` have one number a sample.
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
