// The sums of ChannelSums that are formed together with the weighted sum, for one block of ranges.
#pragma once

#include "stages/scan_lines/line_kernels.hpp"

namespace echoform::scan_lines {

/// Number of vectors of ranges whose sums stay in registers during the loop over receivers.
inline constexpr std::size_t block_vectors = 4;

/// Additional sums of a block. add() takes a receiver's samples, 0 where it has none, and returns the new weighted sum.
template <class Isa, ChannelSums sums>
class BesideSum {
  using Real = typename Isa::Real;

 public:
  BesideSum(const LineTask& /*task*/, std::size_t /*first*/) {
    for (Real& second : second_) second = Isa::zero();
  }

  Real add(std::size_t v, Real s, Real weight, Real sum) {
    if constexpr (sums == ChannelSums::roots) {
      // The weights are roots already.
      const Real x = Isa::multiply(weight, Isa::signed_root(s));
      second_[v] = Isa::multiply_add(x, x, second_[v]);
      return Isa::add(sum, x);
    }
    if constexpr (sums == ChannelSums::squares) second_[v] = Isa::multiply_add(Isa::multiply(weight, s), s, second_[v]);
    if constexpr (sums == ChannelSums::signs) second_[v] = Isa::multiply_add(weight, Isa::sign(s), second_[v]);
    return Isa::multiply_add(s, weight, sum);
  }

  void store(const LineTask& task, std::size_t first) const {
    if constexpr (sums == ChannelSums::none) return;
    for (std::size_t v = 0; v < block_vectors; ++v) Isa::store(task.second + first + v * Isa::lanes, second_[v]);
  }

 private:
  Real second_[block_vectors];
};

/// The DFT over the receivers that contribute, by Goertzel's recurrence q_n = s_n + 2 cos(2 pi m / N) q_(n - 1) - q_(n - 2):
/// |S(m)|^2 = q_N^2 + q_(N - 1)^2 - 2 cos(2 pi m / N) q_N q_(N - 1).
template <class Isa>
class BesideSum<Isa, ChannelSums::low_frequencies> {
  using Real = typename Isa::Real;

 public:
  BesideSum(const LineTask& task, std::size_t first) : count_(task.low_frequencies) {
    for (std::size_t v = 0; v < block_vectors; ++v) {
      second_[v] = Isa::zero();
      constant_[v] = Isa::zero();
      const Real cosine = Isa::load(task.cosine + first + v * Isa::lanes);
      twice_[v] = Isa::add(cosine, cosine);
      last_[v] = Isa::zero();
      before_[v] = Isa::zero();
      // 2 cos(m a) = 2 cos(a) 2 cos((m - 1) a) - 2 cos((m - 2) a)
      Real lower = Isa::all(2.0F);
      Real here = twice_[v];
      for (std::size_t m = 2; m <= count_; ++m) {
        const Real higher = Isa::subtract(Isa::multiply(twice_[v], here), lower);
        lower = here;
        here = higher;
        higher_[at(m, v)] = {higher, Isa::zero(), Isa::zero()};
      }
    }
  }

  /// Adds a receiver without samples here.
  void pass(std::size_t v, Real weight) { turn(v, Isa::above_zero(weight), Isa::zero()); }

  Real add(std::size_t v, Real s, Real weight, Real sum) {
    const typename Isa::Mask heard = Isa::above_zero(weight);
    const Real sample = Isa::only(heard, s);
    second_[v] = Isa::multiply_add(sample, sample, second_[v]);
    constant_[v] = Isa::add(constant_[v], sample);
    turn(v, heard, sample);
    return Isa::multiply_add(s, weight, sum);
  }

  /// Stores the sums. |S(-m)| = |S(m)| since samples are real. Each of the N frequencies counts once.
  void store(const LineTask& task, std::size_t first) const {
    for (std::size_t v = 0; v < block_vectors; ++v) {
      const std::size_t range = first + v * Isa::lanes;
      const Real heard = Isa::load(task.heard + range);
      Real low = Isa::multiply(constant_[v], constant_[v]);
      for (std::size_t m = 1; m <= count_; ++m) {
        const Frequency q = m == 1 ? Frequency{twice_[v], last_[v], before_[v]} : higher_[at(m, v)];
        const Real squares = Isa::multiply_add(q.last, q.last, Isa::multiply(q.before, q.before));
        const Real power = Isa::subtract(squares, Isa::multiply(q.twice, Isa::multiply(q.last, q.before)));
        const Real left = Isa::subtract(heard, Isa::all(2.0F * static_cast<float>(m)));
        low = Isa::add(low, Isa::only(Isa::above_zero(left), power));
        low = Isa::add(low, Isa::only(Isa::above_zero(Isa::add(left, Isa::all(0.5F))), power));
      }
      Isa::store(task.second + range, second_[v]);
      Isa::store(task.low + range, low);
    }
  }

 private:
  struct Frequency {
    Real twice;  // cosine
    Real last;   // q_n
    Real before;
  };
  static constexpr std::size_t at(std::size_t m, std::size_t v) { return (m - 2) * block_vectors + v; }

  static void turn(typename Isa::Mask heard, Real s, Real twice, Real& last, Real& before) {
    const Real next = Isa::multiply_add(twice, last, Isa::subtract(s, before));
    before = Isa::choose(heard, last, before);
    last = Isa::choose(heard, next, last);
  }
  void turn(std::size_t v, typename Isa::Mask heard, Real s) {
    turn(heard, s, twice_[v], last_[v], before_[v]);
    for (std::size_t m = 2; m <= count_; ++m) {
      Frequency& q = higher_[at(m, v)];
      turn(heard, s, q.twice, q.last, q.before);
    }
  }

  std::size_t count_;
  Real second_[block_vectors];
  Real constant_[block_vectors];
  Real twice_[block_vectors];  // of m = 1, which stays in registers
  Real last_[block_vectors];
  Real before_[block_vectors];
  Frequency higher_[(most_low_frequencies - 1) * block_vectors];  // [m - 2, vector]
};

}  // namespace echoform::scan_lines
