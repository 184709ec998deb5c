// The loop over ranges and receivers, common to every instruction set. `Isa` supplies the vectors:
//   Isa::lanes, Isa::Real (lanes floats), Isa::Whole (lanes int32), Isa::Mask, and the functions below.
#pragma once

#include "stages/scan_lines/line_kernels.hpp"

namespace echoform::scan_lines {

enum class Lookup : unsigned char { nearest, linear, taps };

/// Vectors of ranges that are summed in registers while the receivers go by.
inline constexpr std::size_t block_vectors = 4;

template <class Isa, Lookup lookup>
inline typename Isa::Real sample_at(const LineTask& task, const float* row, typename Isa::Whole n, typename Isa::Real f,
                                    typename Isa::Mask inside) {
  using Real = typename Isa::Real;
  const typename Isa::Picker picker(n, inside);
  if constexpr (lookup == Lookup::nearest) return picker.pick(row);
  if constexpr (lookup == Lookup::linear) {
    const Real s0 = picker.pick(row);
    return Isa::multiply_add(f, Isa::subtract(picker.pick(row + 1), s0), s0);
  }
  const TapTable& table = *task.table;
  const Real g = Isa::multiply(f, Isa::all(static_cast<float>(coefficient_pieces)));
  const Real piece = Isa::floor(g);
  const Real h = Isa::subtract(g, piece);
  const typename Isa::Whole which = Isa::to_whole(piece);
  Real sum = Isa::zero();
  for (std::uint32_t tap = 0; tap < table.taps; ++tap) {
    const auto& k = table.cubic[tap];
    Real c = Isa::from_sixteen(k[3], which);
    c = Isa::multiply_add(c, h, Isa::from_sixteen(k[2], which));
    c = Isa::multiply_add(c, h, Isa::from_sixteen(k[1], which));
    c = Isa::multiply_add(c, h, Isa::from_sixteen(k[0], which));
    sum = Isa::multiply_add(c, picker.pick(row + static_cast<std::int32_t>(tap) - table.left), sum);
  }
  return sum;
}

template <class Isa, Lookup lookup>
void sum_line(const LineTask& task) {
  using Real = typename Isa::Real;
  constexpr std::size_t lanes = Isa::lanes;
  constexpr std::size_t block = block_vectors * lanes;
  // Linear and longer filters have samples on both sides of a place, the nearest one needs to be there itself.
  const std::int32_t places = lookup == Lookup::nearest ? task.samples : task.samples - 1;
  for (std::size_t first = 0; first < task.ranges; first += block) {
    Real range[block_vectors];
    Real rest[block_vectors];
    typename Isa::Whole whole[block_vectors];
    Real sum[block_vectors];
    for (std::size_t v = 0; v < block_vectors; ++v) {
      range[v] = Isa::load(task.range + first + v * lanes);
      rest[v] = Isa::load(task.rest + first + v * lanes);
      whole[v] = Isa::load(task.whole + first + v * lanes);
      sum[v] = Isa::zero();
    }
    for (std::uint32_t j = 0; j < task.receiver_count; ++j) {
      const LineReceiver& receiver = task.receivers[j];
      if (first < receiver.first) continue;
      const Real along = Isa::all(receiver.along);
      const Real minus_twice = Isa::all(-2.0F * receiver.along);
      const Real square = Isa::all(receiver.square);
      const Real across = Isa::all(receiver.across_square);
      for (std::size_t v = 0; v < block_vectors; ++v) {
        const Real x = Isa::subtract(range[v], along);
        const Real distance = Isa::root(Isa::multiply_add(x, x, across));
        const Real longer = Isa::divide(Isa::multiply_add(minus_twice, range[v], square), Isa::add(distance, range[v]));
        Real t = Isa::add(rest[v], longer);
        if constexpr (lookup == Lookup::nearest) t = Isa::add(t, Isa::all(0.5F));
        Real below = Isa::floor(t);
        typename Isa::Whole n = Isa::add(whole[v], Isa::to_whole(below));
        const typename Isa::Mask inside = Isa::within(n, places);
        if (Isa::none(inside)) continue;
        if constexpr (lookup == Lookup::taps) {
          t = Isa::add(t, Isa::all(task.table->offset));
          below = Isa::floor(t);
          n = Isa::add(whole[v], Isa::to_whole(below));
        }
        const Real s = sample_at<Isa, lookup>(task, receiver.row, n, Isa::subtract(t, below), inside);
        sum[v] = Isa::multiply_add(Isa::only(inside, s), Isa::load(receiver.weights + first + v * lanes), sum[v]);
      }
    }
    for (std::size_t v = 0; v < block_vectors; ++v) Isa::store(task.out + first + v * lanes, sum[v]);
  }
}

template <class Isa>
LineKernels make_line_kernels() {
  return {&sum_line<Isa, Lookup::nearest>, &sum_line<Isa, Lookup::linear>, &sum_line<Isa, Lookup::taps>};
}

}  // namespace echoform::scan_lines
