// The loop over pairs of bins, common to every instruction set. `Isa` supplies vectors of interleaved complex numbers:
//   Isa::complexes, Isa::Real, load(p), store(p, v), add(a, b), subtract(a, b), multiply(a, b), conjugate(v),
//   swap(v): re and im exchanged, re(v), im(v): that part in both places, reverse(v): the last complex number first.
// -ffp-contract=off, so that all of them give the same bits.
#pragma once

#include <cstddef>

#include "stages/analytic_signal/spectrum_kernels.hpp"

namespace echoform {
namespace {  // each instruction set has its own

/// One complex number.
struct OneComplex {
  static constexpr std::size_t complexes = 1;
  struct Real {
    float a, b;
  };
  static Real load(const float* p) { return {p[0], p[1]}; }
  static void store(float* p, Real v) {
    p[0] = v.a;
    p[1] = v.b;
  }
  static Real add(Real x, Real y) { return {x.a + y.a, x.b + y.b}; }
  static Real subtract(Real x, Real y) { return {x.a - y.a, x.b - y.b}; }
  static Real multiply(Real x, Real y) { return {x.a * y.a, x.b * y.b}; }
  static Real conjugate(Real x) { return {x.a, -x.b}; }
  static Real swap(Real x) { return {x.b, x.a}; }
  static Real re(Real x) { return {x.a, x.a}; }
  static Real im(Real x) { return {x.b, x.b}; }
  static Real reverse(Real x) { return x; }
};

/// Multiplies the bins from `low` on, and those up to the mirror of `low`, whose first is at `high` (paired_spectrum.hpp).
template <class Isa>
inline void multiply_bins(float* low, float* high, const float* root, const float* gain) {
  using Real = typename Isa::Real;
  const Real first = Isa::load(low);
  const Real second = Isa::conjugate(Isa::reverse(Isa::load(high)));
  const Real w = Isa::load(root);
  const Real w_re = Isa::re(w);
  const Real w_im = Isa::im(w);
  const Real gains = Isa::load(gain);
  const Real sum = Isa::re(gains);
  const Real difference = Isa::im(gains);
  const Real even = Isa::add(first, second);
  const Real odd = Isa::conjugate(Isa::swap(Isa::subtract(first, second)));
  // w * odd; further down conj(w) * b.
  const Real turned = Isa::subtract(Isa::multiply(w_re, odd), Isa::conjugate(Isa::multiply(w_im, Isa::swap(odd))));
  const Real a = Isa::add(Isa::multiply(difference, even), Isa::multiply(sum, turned));
  const Real b = Isa::add(Isa::multiply(sum, even), Isa::multiply(difference, turned));
  const Real new_odd = Isa::add(Isa::multiply(w_re, b), Isa::conjugate(Isa::multiply(w_im, Isa::swap(b))));
  const Real new_even = Isa::swap(Isa::conjugate(a));  // i times a
  Isa::store(high, Isa::reverse(Isa::conjugate(Isa::add(new_even, new_odd))));
  Isa::store(low, Isa::subtract(new_even, new_odd));
}

template <class Isa>
inline void multiply_pairs(float* spectrum, const float* roots, const float* gains, std::size_t half) {
  // A constant has no quadrature.
  spectrum[0] = spectrum[1] = 0.0F;
  constexpr std::size_t step = Isa::complexes;
  std::size_t k = 1;
  for (; 2 * (k + step - 1) < half; k += step) {
    multiply_bins<Isa>(spectrum + 2 * k, spectrum + 2 * (half - k - step + 1), roots + 2 * k, gains + 2 * k);
  }
  for (; 2 * k <= half; ++k) {
    multiply_bins<OneComplex>(spectrum + 2 * k, spectrum + 2 * (half - k), roots + 2 * k, gains + 2 * k);
  }
}

/// The product of interleaved complex numbers.
template <class Isa>
inline typename Isa::Real multiply_complex(typename Isa::Real a, typename Isa::Real b) {
  return Isa::subtract(Isa::multiply(Isa::re(a), b), Isa::conjugate(Isa::multiply(Isa::im(a), Isa::swap(b))));
}

/// Multiplies the bins from k on and those up to half - k, as above, by any spectrum.
template <class Isa>
inline void filter_bins(const float* spectrum, float* product, const ResponseFactors& factors, std::size_t k, std::size_t half) {
  using Real = typename Isa::Real;
  const std::size_t low = 2 * k;
  const std::size_t high = k == 0 ? 0 : 2 * (half - k - Isa::complexes + 1);
  const Real first = Isa::load(spectrum + low);
  const Real second = Isa::conjugate(Isa::reverse(Isa::load(spectrum + high)));
  const Real w = Isa::load(factors.roots + low);
  const Real sum = Isa::load(factors.sums + low);
  const Real difference = Isa::load(factors.differences + low);
  const Real even = Isa::add(first, second);
  const Real turned = multiply_complex<Isa>(w, Isa::conjugate(Isa::swap(Isa::subtract(first, second))));
  const Real new_even = Isa::add(multiply_complex<Isa>(sum, even), multiply_complex<Isa>(difference, turned));
  const Real b = Isa::add(multiply_complex<Isa>(difference, even), multiply_complex<Isa>(sum, turned));
  const Real new_odd = multiply_complex<Isa>(Isa::conjugate(w), b);
  const Real aside = Isa::conjugate(Isa::swap(new_odd));  // -i times it
  Isa::store(product + high, Isa::reverse(Isa::conjugate(Isa::add(new_even, aside))));
  Isa::store(product + low, Isa::subtract(new_even, aside));
}

template <class Isa>
inline void filter_pairs(const float* spectrum, float* product, const ResponseFactors& factors, std::size_t half) {
  constexpr std::size_t step = Isa::complexes;
  filter_bins<OneComplex>(spectrum, product, factors, 0, half);
  std::size_t k = 1;
  for (; 2 * (k + step - 1) < half; k += step) filter_bins<Isa>(spectrum, product, factors, k, half);
  for (; 2 * k <= half; ++k) filter_bins<OneComplex>(spectrum, product, factors, k, half);
}

}  // namespace
}  // namespace echoform
