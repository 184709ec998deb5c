// The product of a spectrum with an imaginary one.
#pragma once

#include <cstddef>

#include "cpu/cpu_backend.hpp"

namespace echoform {

/// Multiplies each of `bins` interleaved complex numbers by i * factors[k], in place.
using SpectrumKernel = void (*)(float* spectrum, const float* factors, std::size_t bins);

/// All levels give the same bits.
[[nodiscard]] SpectrumKernel spectrum_kernel(SimdLevel level);

void multiply_spectrum_portable(float* spectrum, const float* factors, std::size_t bins);
void multiply_spectrum_avx2(float* spectrum, const float* factors, std::size_t bins);
void multiply_spectrum_avx512(float* spectrum, const float* factors, std::size_t bins);

}  // namespace echoform
