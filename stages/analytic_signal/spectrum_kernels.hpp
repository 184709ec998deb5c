// The product of a row's spectrum with another one.
#pragma once

#include <cstddef>

#include "cpu/cpu_backend.hpp"

namespace echoform {

/// Multiplies the bins of `spectrum`, the transform of a row taken as `half` complex numbers, by i * b, in place. `roots`
/// (re, im of w) and `gains` (sum, difference) are interleaved, for 0 <= k <= half / 2, as in paired_spectrum.hpp. b[0] and
/// b[half] count as 0.
using PairKernel = void (*)(float* spectrum, const float* roots, const float* gains, std::size_t half);

/// All levels give the same bits.
[[nodiscard]] PairKernel pair_kernel(SimdLevel level);

void multiply_pairs_portable(float* spectrum, const float* roots, const float* gains, std::size_t half);
void multiply_pairs_avx2(float* spectrum, const float* roots, const float* gains, std::size_t half);
void multiply_pairs_avx512(float* spectrum, const float* roots, const float* gains, std::size_t half);

/// Factors for the product of the same transform with any other spectrum: for 0 <= k <= half / 2 the three complex numbers
/// of hilbert::ResponsePair, each in an array of its own. A ResponseKernel reads `spectrum` and writes `product`.
struct ResponseFactors {
  const float* roots = nullptr;
  const float* sums = nullptr;
  const float* differences = nullptr;
};
using ResponseKernel = void (*)(const float* spectrum, float* product, const ResponseFactors& factors, std::size_t half);

/// All levels give the same bits.
[[nodiscard]] ResponseKernel response_kernel(SimdLevel level);

void filter_pairs_portable(const float* spectrum, float* product, const ResponseFactors& factors, std::size_t half);
void filter_pairs_avx2(const float* spectrum, float* product, const ResponseFactors& factors, std::size_t half);
void filter_pairs_avx512(const float* spectrum, float* product, const ResponseFactors& factors, std::size_t half);

/// Multiplies each of `bins` interleaved complex numbers by one of `factors`, interleaved too.
void filter_spectrum(const float* spectrum, float* product, const float* factors, std::size_t bins);

/// Multiplies each of `bins` interleaved complex numbers by i * factors[k], in place.
void multiply_spectrum(float* spectrum, const float* factors, std::size_t bins);

}  // namespace echoform
