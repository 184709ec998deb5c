// The loop of the envelope.
#pragma once

#include <cstddef>

#include "cpu/cpu_backend.hpp"

namespace echoform {

/// out[n] = |z[n]| of `count` complex numbers whose parts are `step` floats apart, 1 or 2, re[0] and im[0] first.
using EnvelopeKernel = void (*)(const float* re, const float* im, std::size_t step, float* out, std::size_t count);

/// All levels give the same bits.
[[nodiscard]] EnvelopeKernel envelope_kernel(SimdLevel level);

void envelope_row_portable(const float* re, const float* im, std::size_t step, float* out, std::size_t count);
void envelope_row_avx2(const float* re, const float* im, std::size_t step, float* out, std::size_t count);
void envelope_row_avx512(const float* re, const float* im, std::size_t step, float* out, std::size_t count);

}  // namespace echoform
