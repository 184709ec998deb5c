// A real row of even length L transformed as L / 2 complex numbers z[n] = s[2 n] + i s[2 n + 1], and the product with an
// imaginary spectrum i b[k] in that form. For host and device.
//
// With E and O the transforms of the even and the odd samples, S[k] = E[k] + w O[k] and S[k + L/2] = E[k] - w O[k],
// w = exp(-2 pi i k / L). b belongs to k and to L - k with the opposite sign, since the product is real in time. So
//   E'[k]   = i ((b[k] - b[L/2 - k]) E[k] + (b[k] + b[L/2 - k]) w O[k]) / 2
//   w O'[k] = i ((b[k] + b[L/2 - k]) E[k] + (b[k] - b[L/2 - k]) w O[k]) / 2
// and at L / 2 - k stand the conjugates. Of any spectrum c[k] with a real result, where c[L - k] is the conjugate of c[k], so of
// c at k and d = conj(c[L/2 - k]) at k + L/2,
//   E'[k]   = ((c + d) E[k] + (c - d) w O[k]) / 2
//   w O'[k] = ((c - d) E[k] + (c + d) w O[k]) / 2
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

#include "stages/analytic_signal/butterfly.hpp"

namespace echoform::hilbert {

/// The factors of the bins k and L / 2 - k. `sum` and `difference` are (b[k] +- b[L/2 - k]) / 2. They contain the factor 1/2
/// of E and O, but not the factor 1/2 above, since a sum over L bins is one over L / 2 bins of twice E' and O'.
struct alignas(16) PairFactors {
  Complex root;  ///< w
  float sum = 0.0F;
  float difference = 0.0F;
};

/// Number of factors for a transform of length L, since 0 <= k <= L / 4.
[[nodiscard]] constexpr std::size_t pair_count(std::size_t length) {
  return length / 4 + 1;
}
/// The pair_count(length) factors that follow from b[0] ... b[L / 2].
[[nodiscard]] std::vector<PairFactors> pair_factors(const std::vector<float>& b, std::size_t length);

/// Replaces bins k and L / 2 - k of the transform of z by those of the product. Bin 0 pairs with itself.
ECHOFORM_HOST_DEVICE void multiply_pair(Complex& low, Complex& high, const PairFactors& factors) {
  const Complex even{low.re + high.re, low.im - high.im};
  const Complex odd{low.im + high.im, high.re - low.re};
  const Complex turned = factors.root * odd;
  const Complex a = fused({factors.difference * even.re, factors.difference * even.im}, factors.sum, turned);
  const Complex b = fused({factors.sum * even.re, factors.sum * even.im}, factors.difference, turned);
  const Complex new_even{-a.im, a.re};
  const Complex new_odd = Complex{factors.root.re, -factors.root.im} * Complex{-b.im, b.re};
  low = {new_even.re - new_odd.im, new_even.im + new_odd.re};
  high = {new_even.re + new_odd.im, new_odd.re - new_even.im};
}

/// The same for any spectrum: `sum` and `difference` are (c +- d) / 2.
struct alignas(8) ResponsePair {
  Complex root;
  Complex sum;
  Complex difference;
};

/// The pair_count(length) factors that follow from c[0] ... c[L / 2].
[[nodiscard]] std::vector<ResponsePair> response_pairs(const std::vector<std::complex<float>>& c, std::size_t length);

/// The bins k and L / 2 - k, which depend on each other.
struct BinPair {
  Complex low;
  Complex high;
};

/// Bins k and L / 2 - k of the product from those of the transform of z. Bin 0 pairs with itself.
ECHOFORM_HOST_DEVICE BinPair filter_pair(const BinPair& bins, const ResponsePair& factors) {
  const Complex even{bins.low.re + bins.high.re, bins.low.im - bins.high.im};
  const Complex odd{bins.low.im + bins.high.im, bins.high.re - bins.low.re};
  const Complex turned = factors.root * odd;
  const Complex new_even = factors.sum * even + factors.difference * turned;
  const Complex new_odd = Complex{factors.root.re, -factors.root.im} * (factors.difference * even + factors.sum * turned);
  return {{new_even.re - new_odd.im, new_even.im + new_odd.re}, {new_even.re + new_odd.im, new_odd.re - new_even.im}};
}

}  // namespace echoform::hilbert
