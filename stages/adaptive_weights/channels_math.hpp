// Arithmetic of adaptive weights that need the channels of a point themselves, for host and device. One thread or a team of
// threads works on a point. adaptive_weights.hpp has the formulas.
//
// A Team has size() threads, of which the calling one has index(). All threads call sync(), which makes what each wrote
// visible to the others. sum() adds up one number of each thread and returns the total to all. Channels has the channels of
// weight > 0 at the point: weight(n), and real(k, n) and imaginary(k, n) of channel n at point k of the window.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "gpu/host_device.hpp"

namespace echoform::adaptive {

/// A team of one.
struct Alone {
  [[nodiscard]] ECHOFORM_HOST_DEVICE static constexpr unsigned index() { return 0; }
  [[nodiscard]] ECHOFORM_HOST_DEVICE static constexpr unsigned size() { return 1; }
  ECHOFORM_HOST_DEVICE static void sync() {}
  template <class Number>
  [[nodiscard]] ECHOFORM_HOST_DEVICE static Number sum(Number own) {
    return own;
  }
};

/// Weighted sums of the phases of some channels, and of the same phases shifted by pi.
struct PhaseSpread {
  double all = 0.0;     ///< sum of the weights
  double weight = 0.0;  ///< sum of the weights of the channels that have a phase
  double sum[2] = {};
  double squares[2] = {};

  ECHOFORM_HOST_DEVICE void add(float w, float real, float imaginary) {
    constexpr double pi = 3.14159265358979323846;
    all += static_cast<double>(w);
    if (real == 0.0F && imaginary == 0.0F) return;
    weight += static_cast<double>(w);
    const auto phase = static_cast<double>(atan2f(imaginary, real));
    const double turned = phase > 0.0 ? phase - pi : phase + pi;
    sum[0] += static_cast<double>(w) * phase;
    sum[1] += static_cast<double>(w) * turned;
    squares[0] += static_cast<double>(w) * phase * phase;
    squares[1] += static_cast<double>(w) * turned * turned;
  }

  [[nodiscard]] ECHOFORM_HOST_DEVICE float factor(double sensitivity) const {
    constexpr double of_noise = 1.81379936423421785;  // pi / sqrt(3)
    if (!(weight > 0.0)) return 0.0F;
    const double spread = sqrt(fmin(variance(0), variance(1)));
    return static_cast<float>(fmax(0.0, 1.0 - sensitivity * spread / of_noise) * weight / all);
  }

 private:
  [[nodiscard]] ECHOFORM_HOST_DEVICE double variance(int turn) const {
    const double mean = sum[turn] / weight;
    return fmax(0.0, squares[turn] / weight - mean * mean);
  }
};

template <class Channels, class Team>
ECHOFORM_HOST_DEVICE float phase_coherence(const Channels& s, unsigned channels, unsigned centre, double sensitivity,
                                           const Team& team) {
  PhaseSpread own;
  for (unsigned n = team.index(); n < channels; n += team.size()) {
    own.add(s.weight(n), s.real(centre, n), s.imaginary(centre, n));
  }
  PhaseSpread all;
  all.all = team.sum(own.all);
  all.weight = team.sum(own.weight);
  for (int turn = 0; turn < 2; ++turn) {
    all.sum[turn] = team.sum(own.sum[turn]);
    all.squares[turn] = team.sum(own.squares[turn]);
  }
  return all.factor(sensitivity);
}

/// The number of lags M for `channels`, at least 2.
[[nodiscard]] ECHOFORM_HOST_DEVICE unsigned short_lags(double part, unsigned channels) {
  const double wanted = floor(part * static_cast<double>(channels) + 0.5);
  return static_cast<unsigned>(fmin(fmax(wanted, 1.0), static_cast<double>(channels - 1)));
}

/// The short-lag spatial coherence of the real parts. Where Channels::complex, imaginary parts count as further points.
/// `roots` has memory for one number a channel.
template <class Channels, class Team>
ECHOFORM_HOST_DEVICE float short_lag_coherence(const Channels& s, unsigned channels, unsigned points, double part, float* roots,
                                               const Team& team) {
  if (channels < 2) return 0.0F;
  const auto product = [&](unsigned one, unsigned other) {
    float sum = 0.0F;
    for (unsigned k = 0; k < points; ++k) {
      sum = fmaf(s.real(k, one), s.real(k, other), sum);
      if constexpr (Channels::complex) sum = fmaf(s.imaginary(k, one), s.imaginary(k, other), sum);
    }
    return sum;
  };
  for (unsigned n = team.index(); n < channels; n += team.size()) {
    const float energy = product(n, n);
    roots[n] = energy > 0.0F ? 1.0F / sqrtf(energy) : 0.0F;
  }
  team.sync();
  const unsigned lags = short_lags(part, channels);
  float own = 0.0F;
  for (unsigned lag = 1; lag <= lags; ++lag) {
    float correlation = 0.0F;
    for (unsigned n = team.index(); n + lag < channels; n += team.size()) {
      correlation += product(n, n + lag) * roots[n] * roots[n + lag];
    }
    own += correlation / static_cast<float>(channels - lag);
  }
  return fmaxf(0.0F, team.sum(own) / static_cast<float>(lags));
}

/// A complex number whose product makes no checks for infinities, unlike that of std::complex.
struct alignas(16) DoubleComplex {
  double real;
  double imaginary;

  ECHOFORM_HOST_DEVICE void add(const DoubleComplex& a) {
    real += a.real;
    imaginary += a.imaginary;
  }
  /// a conj(b). (The order of the products matters: GCC 12 forms another sum of nested products with signs when it vectorises.)
  ECHOFORM_HOST_DEVICE void add_product(const DoubleComplex& a, const DoubleComplex& b) {
#if defined(__CUDA_ARCH__)
    real = fma(a.real, b.real, fma(a.imaginary, b.imaginary, real));
    imaginary = fma(a.imaginary, b.real, fma(-a.real, b.imaginary, imaginary));
#else
    real += a.real * b.real + a.imaginary * b.imaginary;
    imaginary += a.imaginary * b.real - a.real * b.imaginary;
#endif
  }
  ECHOFORM_HOST_DEVICE void subtract_product(const DoubleComplex& a, const DoubleComplex& b) {
    add_product({-a.real, -a.imaginary}, b);
  }
};

/// The subarray length L.
[[nodiscard]] ECHOFORM_HOST_DEVICE unsigned subarray_of(double part, unsigned channels) {
  const double length = floor(part * static_cast<double>(channels));
  return static_cast<unsigned>(fmin(fmax(length, 1.0), static_cast<double>(channels)));
}
/// Count of the numbers of capon_mean()'s workspace: the lower triangle of a matrix of L rows, one row after the other, and
/// two rows more.
[[nodiscard]] ECHOFORM_HOST_DEVICE std::size_t capon_numbers(std::size_t length) {
  return (length + 1) * (length + 2) / 2 + length;
}

/// Capon's mean of the subarrays at the point `centre`; 0 without energy. `channels` is at least 1.
///
/// With R = G G^H, w^H x = (G^-1 a)^H (G^-1 x) / |G^-1 a|^2. Cholesky's loop yields conj(G^-1 b) from one more row of the
/// matrix that holds conj(b), so no back substitution is needed. The loop goes column by column, so that the team works on
/// all rows below at once.
template <class Channels, class Team>
ECHOFORM_HOST_DEVICE DoubleComplex capon_mean(const Channels& s, unsigned channels, unsigned points, unsigned centre,
                                              unsigned length, double loading, DoubleComplex* matrix, const Team& team) {
  const unsigned subarrays = channels - length + 1;
  const auto row = [&](unsigned i) { return matrix + (std::size_t{i} * i + i) / 2; };
  const unsigned numbers = (length * length + length) / 2;
  for (unsigned n = team.index(); n < numbers; n += team.size()) matrix[n] = {0.0, 0.0};
  team.sync();
  // The sum over l of x_l x_l^H, for each point. Along a diagonal each entry follows from the one before: the product of the
  // first subarray is subtracted, and the product that a subarray after the last would have is added.
  for (unsigned k = 0; k < points; ++k) {
    const auto at = [&](unsigned n) {
      return DoubleComplex{static_cast<double>(s.real(k, n)), static_cast<double>(s.imaginary(k, n))};
    };
    for (unsigned lag = team.index(); lag < length; lag += team.size()) {
      DoubleComplex sum{0.0, 0.0};
      for (unsigned l = 0; l < subarrays; ++l) sum.add_product(at(l + lag), at(l));
      for (unsigned column = 0;; ++column) {
        row(column + lag)[column].add(sum);
        if (column + lag + 1 == length) break;
        sum.subtract_product(at(column + lag), at(column));
        sum.add_product(at(column + lag + subarrays), at(column + subarrays));
      }
    }
  }
  team.sync();
  double own = 0.0;
  for (unsigned i = team.index(); i < length; i += team.size()) own += row(i)[i].real;
  const double trace = team.sum(own);
  if (!(trace > 0.0)) return {0.0, 0.0};
  // The scale of R has no meaning. R is scaled to trace 1, so that its entries neither overflow nor vanish.
  for (unsigned n = team.index(); n < numbers; n += team.size())
    matrix[n] = {matrix[n].real / trace, matrix[n].imaginary / trace};
  DoubleComplex* const of_a = row(length);
  DoubleComplex* const of_x = row(length + 1);
  for (unsigned i = team.index(); i < length; i += team.size()) {
    DoubleComplex x{0.0, 0.0};
    for (unsigned l = 0; l < subarrays; ++l) {
      x.add({static_cast<double>(s.real(centre, i + l)), -static_cast<double>(s.imaginary(centre, i + l))});
    }
    of_a[i] = {1.0, 0.0};
    of_x[i] = x;
  }
  team.sync();
  const double load = loading / static_cast<double>(length);
  for (unsigned i = team.index(); i < length; i += team.size()) row(i)[i].real += load;
  team.sync();
  // Diagonal entries stay the squares of those of the factor G, since other threads may still read them.
  for (unsigned column = 0; column < length; ++column) {
    const DoubleComplex* const pivot = row(column);
    for (unsigned i = column + team.index(); i < length + 2; i += team.size()) {
      DoubleComplex* const entry = row(i);
      DoubleComplex sum = entry[column];
      for (unsigned k = 0; k < column; ++k) sum.subtract_product(entry[k], pivot[k]);
      entry[column] = sum;
    }
    team.sync();
    const double root = sqrt(pivot[column].real);
    for (unsigned i = column + 1 + team.index(); i < length + 2; i += team.size()) {
      DoubleComplex& entry = row(i)[column];
      entry = {entry.real / root, entry.imaginary / root};
    }
    team.sync();
  }
  DoubleComplex sum{0.0, 0.0};
  double norm = 0.0;
  for (unsigned i = team.index(); i < length; i += team.size()) {
    sum.add_product(of_a[i], of_x[i]);
    norm += of_a[i].real * of_a[i].real + of_a[i].imaginary * of_a[i].imaginary;
  }
  const double below = team.sum(norm) * static_cast<double>(subarrays);
  return {team.sum(sum.real) / below, team.sum(sum.imaginary) / below};
}

}  // namespace echoform::adaptive
