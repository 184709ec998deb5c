// The loop of the envelope.
#pragma once

#include <cstddef>

#include "cpu/cpu_backend.hpp"

namespace echoform {

/// out[n] = |z[n]| of `count` interleaved complex numbers.
using EnvelopeKernel = void (*)(const float* complex, float* out, std::size_t count);

/// All levels give the same bits.
[[nodiscard]] EnvelopeKernel envelope_kernel(SimdLevel level);

void envelope_row_portable(const float* complex, float* out, std::size_t count);
void envelope_row_avx2(const float* complex, float* out, std::size_t count);
void envelope_row_avx512(const float* complex, float* out, std::size_t count);

}  // namespace echoform
