// The loop over ranges and receivers, common to every instruction set. `Isa` supplies the vectors:
//   Isa::lanes, Isa::Real (lanes floats), Isa::Whole (lanes int32), Isa::Mask, and the functions below.
#pragma once

#include "stages/scan_lines/line_kernels.hpp"
#include "stages/scan_lines/line_sums_loop.hpp"

namespace echoform::scan_lines {

/// The coefficients of the taps about places with fractions `f`.
template <class Isa>
class TapCoefficients {
  using Real = typename Isa::Real;

 public:
  explicit TapCoefficients(Real f) {
    const Real g = Isa::multiply(f, Isa::all(static_cast<float>(coefficient_pieces)));
    // A fraction just below 1 may have been rounded to 1: the end of the last piece.
    const Real piece = Isa::least(Isa::floor(g), Isa::all(static_cast<float>(coefficient_pieces - 1)));
    within_ = Isa::subtract(g, piece);
    which_ = Isa::to_whole(piece);
  }
  [[nodiscard]] Real of(const TapTable& table, std::uint32_t tap) const {
    const auto& k = table.cubic[tap];
    Real c = Isa::from_sixteen(k[3], which_);
    c = Isa::multiply_add(c, within_, Isa::from_sixteen(k[2], which_));
    c = Isa::multiply_add(c, within_, Isa::from_sixteen(k[1], which_));
    return Isa::multiply_add(c, within_, Isa::from_sixteen(k[0], which_));
  }

 private:
  Real within_;
  typename Isa::Whole which_;
};

template <class Isa, Lookup lookup, class Picker>
inline typename Isa::Real sample_at(const LineTask& task, const float* row, const Picker& picker, typename Isa::Real f) {
  using Real = typename Isa::Real;
  if constexpr (lookup == Lookup::nearest) return picker.pick(row);
  if constexpr (lookup == Lookup::linear) {
    Real s0;
    Real s1;
    picker.pick_both(row, s0, s1);
    return Isa::multiply_add(f, Isa::subtract(s1, s0), s0);
  }
  if constexpr (lookup == Lookup::phases) {
    Real before;
    Real behind;
    picker.pick_both(row, before, behind);
    // Selects the straight line of the quarter that the place lies in, by passing from each quarter to the next.
    Real next[3];
    for (std::ptrdiff_t k = 0; k < 3; ++k) next[k] = picker.pick(row + (k + 1) * task.phase_pitch);
    Real share = Isa::multiply(f, Isa::all(4.0F));
    Real to = next[0];
    Real left = share;
    for (std::size_t k = 0; k < 3; ++k) {
      left = Isa::subtract(left, Isa::all(1.0F));
      const typename Isa::Mask passed = Isa::above_zero(left);
      before = Isa::choose(passed, next[k], before);
      to = Isa::choose(passed, k == 2 ? behind : next[k + 1], to);
      share = Isa::choose(passed, left, share);
    }
    return Isa::multiply_add(share, Isa::subtract(to, before), before);
  }
  const TapTable& table = *task.table;
  const TapCoefficients<Isa> coefficients(f);
  Real sum = Isa::zero();
  for (std::uint32_t tap = 0; tap < table.taps; ++tap) {
    sum = Isa::multiply_add(coefficients.of(table, tap), picker.pick(row + static_cast<std::int32_t>(tap) - table.left), sum);
  }
  return sum;
}

/// The path difference |p - e| - r.
template <class Isa>
inline typename Isa::Real longer_way(typename Isa::Real range, typename Isa::Real along, typename Isa::Real square,
                                     typename Isa::Real across_square) {
  using Real = typename Isa::Real;
  const Real x = Isa::subtract(range, along);
  const Real distance = Isa::root(Isa::multiply_add(x, x, across_square));
  const Real minus_twice = Isa::multiply(Isa::all(-2.0F), along);
  return Isa::divide(Isa::multiply_add(minus_twice, range, square), Isa::add(distance, range));
}

inline constexpr std::size_t degree = 4;

/// Chebyshev places of a block, from -1 to 1, and the matrix from values there to coefficients of powers.
struct BlockPolynomial {
  float at[degree + 1];
  float powers[degree + 1][degree + 1];
};
inline constexpr BlockPolynomial block_polynomial{{-0.951056516F, -0.587785252F, 0.0F, 0.587785252F, 0.951056516F},
                                                  {{0.0F, 0.0F, 1.0F, 0.0F, 0.0F},
                                                   {0.324919696F, -1.37638192F, 0.0F, 1.37638192F, -0.324919696F},
                                                   {-0.341640786F, 2.34164079F, -4.0F, 2.34164079F, -0.341640786F},
                                                   {-0.940456404F, 1.52169043F, 0.0F, -1.52169043F, 0.940456404F},
                                                   {0.988854382F, -2.58885438F, 3.2F, -2.58885438F, 0.988854382F}}};

/// Sums a steady block of `vectors` vectors. For as many receivers at a time as a vector holds it finds the path differences
/// at the polynomial's places, and from these at every range.
template <class Isa, Lookup lookup, std::size_t vectors>
void sum_steady_block(const LineTask& task, std::size_t first) {
  using Real = typename Isa::Real;
  constexpr std::size_t lanes = Isa::lanes;
  alignas(64) float powers[degree + 1][lanes];
  Real rest[vectors];
  Real way[vectors];  // through the block, from -1 to 1
  typename Isa::Whole whole[vectors];
  Real sum[vectors];
  const float half = 0.5F * (task.range[first + vectors * lanes - 1] - task.range[first]);
  const float middle = task.range[first] + half;
  for (std::size_t v = 0; v < vectors; ++v) {
    rest[v] = Isa::load(task.rest + first + v * lanes);
    whole[v] = Isa::load(task.whole + first + v * lanes);
    way[v] = Isa::multiply(Isa::subtract(Isa::load(task.range + first + v * lanes), Isa::all(middle)), Isa::all(1.0F / half));
    sum[v] = Isa::zero();
  }
  for (std::uint32_t group = 0; group < task.receiver_count; group += lanes) {
    const Real along = Isa::load(task.along + group);
    const Real square = Isa::load(task.square + group);
    const Real across_square = Isa::load(task.across_square + group);
    Real longer[degree + 1];
    for (std::size_t k = 0; k <= degree; ++k) {
      longer[k] = longer_way<Isa>(Isa::all(middle + half * block_polynomial.at[k]), along, square, across_square);
    }
    for (std::size_t power = 0; power <= degree; ++power) {
      Real coefficient = Isa::zero();
      for (std::size_t k = 0; k <= degree; ++k) {
        coefficient = Isa::multiply_add(Isa::all(block_polynomial.powers[power][k]), longer[k], coefficient);
      }
      Isa::store(powers[power], coefficient);
    }
    const std::uint32_t count = task.receiver_count - group < lanes ? task.receiver_count - group : lanes;
    for (std::uint32_t j = 0; j < count; ++j) {
      const LineReceiver& receiver = task.receivers[group + j];
      if (first < receiver.first) continue;
      for (std::size_t v = 0; v < vectors; ++v) {
        Real t = Isa::all(powers[degree][j]);
        for (std::size_t power = degree; power-- > 0;) t = Isa::multiply_add(t, way[v], Isa::all(powers[power][j]));
        t = Isa::add(t, rest[v]);
        if constexpr (lookup == Lookup::nearest) t = Isa::add(t, Isa::all(0.5F));
        if constexpr (lookup == Lookup::taps) t = Isa::add(t, Isa::all(task.table->offset));
        const Real below = Isa::floor(t);
        const typename Isa::SteadyPicker picker(Isa::add(whole[v], Isa::to_whole(below)));
        const Real s = sample_at<Isa, lookup>(task, receiver.row, picker, Isa::subtract(t, below));
        sum[v] = Isa::multiply_add(s, Isa::load(receiver.weights + first + v * lanes), sum[v]);
      }
    }
  }
  for (std::size_t v = 0; v < vectors; ++v) Isa::store(task.out + first + v * lanes, sum[v]);
}

template <class Isa, Lookup lookup, ChannelSums sums>
void sum_line(const LineTask& task) {
  using Real = typename Isa::Real;
  constexpr bool keeps_channels = sums == ChannelSums::channels;
  constexpr std::size_t lanes = Isa::lanes;
  constexpr std::size_t block = block_vectors * lanes;
  // Linear and longer filters need samples on both sides of a place; nearest interpolation needs only the nearest sample.
  const std::int32_t places = lookup == Lookup::nearest ? task.samples : task.samples - 1;
  for (std::size_t first = 0; first < task.ranges; first += block) {
    Real range[block_vectors];
    Real rest[block_vectors];
    typename Isa::Whole whole[block_vectors];
    Real sum[block_vectors];
    [[maybe_unused]] BesideSum<Isa, sums> beside(task, first);
    for (std::size_t v = 0; v < block_vectors; ++v) {
      range[v] = Isa::load(task.range + first + v * lanes);
      rest[v] = Isa::load(task.rest + first + v * lanes);
      whole[v] = Isa::load(task.whole + first + v * lanes);
      sum[v] = Isa::zero();
    }
    if constexpr (block == range_step && sums == ChannelSums::none) {
      const unsigned char steady = task.steady[first / range_step];
      if (steady == steady_as_a_whole) {
        sum_steady_block<Isa, lookup, block_vectors>(task, first);
        continue;
      }
      if (steady == steady_by_halves) {
        sum_steady_block<Isa, lookup, block_vectors / 2>(task, first);
        sum_steady_block<Isa, lookup, block_vectors / 2>(task, first + block / 2);
        continue;
      }
    }
    for (std::uint32_t j = 0; j < task.receiver_count; ++j) {
      const LineReceiver& receiver = task.receivers[j];
      [[maybe_unused]] float* const kept = keeps_channels ? task.channels + j * task.ranges + first : nullptr;
      // When channels are kept, no range is skipped: a window about a range where the receiver contributes may begin earlier.
      if (!keeps_channels && first < receiver.first) continue;
      const Real along = Isa::all(receiver.along);
      const Real square = Isa::all(receiver.square);
      const Real across_square = Isa::all(receiver.across_square);
      for (std::size_t v = 0; v < block_vectors; ++v) {
        Real t = Isa::add(rest[v], longer_way<Isa>(range[v], along, square, across_square));
        if constexpr (lookup == Lookup::nearest) t = Isa::add(t, Isa::all(0.5F));
        Real below = Isa::floor(t);
        typename Isa::Whole n = Isa::add(whole[v], Isa::to_whole(below));
        const typename Isa::Mask inside = Isa::within(n, places);
        if (Isa::none(inside)) {
          if constexpr (keeps_channels) Isa::store(kept + v * lanes, Isa::zero());
          if constexpr (sums == ChannelSums::low_frequencies) beside.pass(v, Isa::load(receiver.weights + first + v * lanes));
          continue;
        }
        if constexpr (lookup == Lookup::taps) {
          t = Isa::add(t, Isa::all(task.table->offset));
          below = Isa::floor(t);
          n = Isa::add(whole[v], Isa::to_whole(below));
        }
        const typename Isa::Picker picker(n, inside);
        const Real s = sample_at<Isa, lookup>(task, receiver.row, picker, Isa::subtract(t, below));
        if constexpr (keeps_channels) {
          Isa::store(kept + v * lanes, Isa::only(inside, s));
          continue;
        }
        const Real weight = Isa::load(receiver.weights + first + v * lanes);
        sum[v] = beside.add(v, Isa::only(inside, s), weight, sum[v]);
      }
    }
    if constexpr (keeps_channels) continue;
    for (std::size_t v = 0; v < block_vectors; ++v) Isa::store(task.out + first + v * lanes, sum[v]);
    beside.store(task, first);
  }
}

template <class Isa>
void make_phases(const PhasesTask& task) {
  using Real = typename Isa::Real;
  // The number of vectors that share one read of the coefficients; it is small enough that sums stay in registers.
  constexpr std::size_t vectors = Isa::lanes == 16 ? 4 : 2;
  for (std::size_t n = 0; n < task.samples; n += vectors * Isa::lanes) {
    const float* const from = task.row + n - task.left;
    Real sums[3][vectors];
    for (auto& of_phase : sums) {
      for (Real& sum : of_phase) sum = Isa::zero();
    }
    for (std::uint32_t tap = 0; tap < task.taps; ++tap) {
      for (std::size_t v = 0; v < vectors; ++v) {
        const Real s = Isa::load(from + tap + v * Isa::lanes);
        for (std::uint32_t phase = 0; phase < 3; ++phase) {
          sums[phase][v] = Isa::multiply_add(Isa::all(task.coefficients[phase * task.taps + tap]), s, sums[phase][v]);
        }
      }
    }
    for (std::ptrdiff_t phase = 0; phase < 3; ++phase) {
      float* const to = task.row + (phase + 1) * task.phase_pitch + n;
      for (std::size_t v = 0; v < vectors; ++v) Isa::store(to + v * Isa::lanes, sums[phase][v]);
    }
  }
}

template <class Isa, ChannelSums sums>
LineKernels make_line_kernels_of() {
  return {&sum_line<Isa, Lookup::nearest, sums>, &sum_line<Isa, Lookup::linear, sums>, &sum_line<Isa, Lookup::taps, sums>,
          &sum_line<Isa, Lookup::phases, sums>};
}

template <class Isa>
LineKernels make_line_kernels(ChannelSums sums) {
  switch (sums) {
    case ChannelSums::none:
      break;
    case ChannelSums::squares:
      return make_line_kernels_of<Isa, ChannelSums::squares>();
    case ChannelSums::signs:
      return make_line_kernels_of<Isa, ChannelSums::signs>();
    case ChannelSums::roots:
      return make_line_kernels_of<Isa, ChannelSums::roots>();
    case ChannelSums::low_frequencies:
      return make_line_kernels_of<Isa, ChannelSums::low_frequencies>();
    case ChannelSums::channels:
      return make_line_kernels_of<Isa, ChannelSums::channels>();
  }
  return make_line_kernels_of<Isa, ChannelSums::none>();
}

}  // namespace echoform::scan_lines
