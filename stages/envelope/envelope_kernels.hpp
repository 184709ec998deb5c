// The loops of the envelope.
#pragma once

#include <cstddef>

#include "cpu/cpu_backend.hpp"

namespace echoform {

/// out[n] = |z[n]| of `count` complex numbers whose parts are `step` floats apart, 1 or 2, re[0] and im[0] first.
using EnvelopeKernel = void (*)(const float* re, const float* im, std::size_t step, float* out, std::size_t count);

struct EnvelopeKernels {
  EnvelopeKernel envelope;
  EnvelopeKernel add;  ///< out[n] += |z[n]|
};

/// All levels give the same bits.
[[nodiscard]] EnvelopeKernels envelope_kernels(SimdLevel level);

[[nodiscard]] EnvelopeKernels envelope_kernels_portable();
[[nodiscard]] EnvelopeKernels envelope_kernels_avx2();
[[nodiscard]] EnvelopeKernels envelope_kernels_avx512();

}  // namespace echoform
