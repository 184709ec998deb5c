// The loop over ranges and receivers of complex rows, which corresponds to that of real rows in line_kernels_loop.hpp.
// Places, weights and coefficients are the same, and serve to look up two rows.
#pragma once

#include "stages/scan_lines/complex_line_kernels.hpp"
#include "stages/scan_lines/line_kernels_loop.hpp"

namespace echoform::scan_lines {

template <class Isa>
struct ComplexReal {
  typename Isa::Real re;
  typename Isa::Real im;
};

/// exp(j 2 pi cycles), to 3e-7, from the series of sine and cosine of half the angle, which lies within -pi / 2 .. pi / 2.
template <class Isa>
inline ComplexReal<Isa> unit_phasor(typename Isa::Real cycles) {
  using Real = typename Isa::Real;
  const Real x = Isa::subtract(cycles, Isa::floor(Isa::add(cycles, Isa::all(0.5F))));
  const Real y = Isa::multiply(x, Isa::all(3.14159265358979F));  // -pi / 2 to pi / 2
  const Real z = Isa::multiply(y, y);
  Real s = Isa::all(-1.0F / 39916800.0F);
  s = Isa::multiply_add(s, z, Isa::all(1.0F / 362880.0F));
  s = Isa::multiply_add(s, z, Isa::all(-1.0F / 5040.0F));
  s = Isa::multiply_add(s, z, Isa::all(1.0F / 120.0F));
  s = Isa::multiply_add(s, z, Isa::all(-1.0F / 6.0F));
  s = Isa::multiply_add(s, z, Isa::all(1.0F));
  s = Isa::multiply(s, y);
  Real c = Isa::all(1.0F / 479001600.0F);
  c = Isa::multiply_add(c, z, Isa::all(-1.0F / 3628800.0F));
  c = Isa::multiply_add(c, z, Isa::all(1.0F / 40320.0F));
  c = Isa::multiply_add(c, z, Isa::all(-1.0F / 720.0F));
  c = Isa::multiply_add(c, z, Isa::all(1.0F / 24.0F));
  c = Isa::multiply_add(c, z, Isa::all(-0.5F));
  c = Isa::multiply_add(c, z, Isa::all(1.0F));
  const Real twice = Isa::add(s, s);
  return {Isa::subtract(Isa::all(1.0F), Isa::multiply(twice, s)), Isa::multiply(twice, c)};
}

template <class Isa, Lookup lookup>
inline ComplexReal<Isa> complex_sample_at(const LineTask& task, const float* re, const float* im, typename Isa::Whole n,
                                          typename Isa::Real f, typename Isa::Mask inside) {
  using Real = typename Isa::Real;
  const typename Isa::Picker picker(n, inside);
  if constexpr (lookup == Lookup::nearest) return {picker.pick(re), picker.pick(im)};
  if constexpr (lookup == Lookup::linear) {
    const Real a = picker.pick(re);
    const Real b = picker.pick(im);
    return {Isa::multiply_add(f, Isa::subtract(picker.pick(re + 1), a), a),
            Isa::multiply_add(f, Isa::subtract(picker.pick(im + 1), b), b)};
  }
  const TapTable& table = *task.table;
  const TapCoefficients<Isa> coefficients(f);
  ComplexReal<Isa> sum{Isa::zero(), Isa::zero()};
  for (std::uint32_t tap = 0; tap < table.taps; ++tap) {
    const Real c = coefficients.of(table, tap);
    const std::int32_t at = static_cast<std::int32_t>(tap) - table.left;
    sum.re = Isa::multiply_add(c, picker.pick(re + at), sum.re);
    sum.im = Isa::multiply_add(c, picker.pick(im + at), sum.im);
  }
  return sum;
}

template <class Isa, Lookup lookup>
void sum_complex_line(const ComplexLineTask& complex) {
  using Real = typename Isa::Real;
  constexpr std::size_t lanes = Isa::lanes;
  const LineTask& task = complex.real;
  const std::int32_t places = lookup == Lookup::nearest ? task.samples : task.samples - 1;
  const Real cycles = Isa::all(complex.cycles);
  constexpr std::size_t block = block_vectors * lanes;
  for (std::size_t first = 0; first < task.ranges; first += block) {
    Real re[block_vectors];
    Real im[block_vectors];
    for (std::size_t v = 0; v < block_vectors; ++v) re[v] = im[v] = Isa::zero();
    for (std::uint32_t j = 0; j < task.receiver_count; ++j) {
      const LineReceiver& receiver = task.receivers[j];
      if (first < receiver.first) continue;
      const Real along = Isa::all(receiver.along);
      const Real minus_twice = Isa::all(-2.0F * receiver.along);
      const Real square = Isa::all(receiver.square);
      const Real across = Isa::all(receiver.across_square);
      for (std::size_t v = 0; v < block_vectors; ++v) {
        const std::size_t at = first + v * lanes;
        const Real range = Isa::load(task.range + at);
        const typename Isa::Whole whole = Isa::load(task.whole + at);
        const Real x = Isa::subtract(range, along);
        const Real distance = Isa::root(Isa::multiply_add(x, x, across));
        const Real longer = Isa::divide(Isa::multiply_add(minus_twice, range, square), Isa::add(distance, range));
        Real t = Isa::add(Isa::load(task.rest + at), longer);
        if constexpr (lookup == Lookup::nearest) t = Isa::add(t, Isa::all(0.5F));
        Real below = Isa::floor(t);
        typename Isa::Whole n = Isa::add(whole, Isa::to_whole(below));
        const typename Isa::Mask inside = Isa::within(n, places);
        if (Isa::none(inside)) continue;
        if constexpr (lookup == Lookup::taps) {
          t = Isa::add(t, Isa::all(task.table->offset));
          below = Isa::floor(t);
          n = Isa::add(whole, Isa::to_whole(below));
        }
        const ComplexReal<Isa> b = complex_sample_at<Isa, lookup>(task, receiver.row, receiver.row + complex.quadrature, n,
                                                                  Isa::subtract(t, below), inside);
        const ComplexReal<Isa> turn = unit_phasor<Isa>(Isa::multiply(cycles, longer));
        const Real weight = Isa::load(receiver.weights + at);
        const Real turned_re = Isa::subtract(Isa::multiply(b.re, turn.re), Isa::multiply(b.im, turn.im));
        const Real turned_im = Isa::multiply_add(b.re, turn.im, Isa::multiply(b.im, turn.re));
        re[v] = Isa::multiply_add(Isa::only(inside, turned_re), weight, re[v]);
        im[v] = Isa::multiply_add(Isa::only(inside, turned_im), weight, im[v]);
      }
    }
    for (std::size_t v = 0; v < block_vectors; ++v) {
      Isa::store(task.out + first + v * lanes, re[v]);
      Isa::store(complex.out_imaginary + first + v * lanes, im[v]);
    }
  }
}

template <class Isa>
ComplexLineKernels make_complex_line_kernels() {
  return {&sum_complex_line<Isa, Lookup::nearest>, &sum_complex_line<Isa, Lookup::linear>, &sum_complex_line<Isa, Lookup::taps>};
}

}  // namespace echoform::scan_lines
