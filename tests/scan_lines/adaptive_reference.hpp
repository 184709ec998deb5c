// Adaptive weights by their definitions, in double precision: sums over pairs, DFTs term by term, elimination with pivots.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <string_view>
#include <vector>

#include "stages/adaptive_weights/adaptive_weights.hpp"

namespace echoform::test {

using Complex = std::complex<double>;

/// Aligned analytic values of all channels along a line, [range][channel], and their weights, likewise; 0: not heard.
struct AlignedLine {
  std::vector<std::vector<Complex>> values;
  std::vector<std::vector<double>> weights;
};

inline std::vector<std::size_t> heard_at(const AlignedLine& line, std::size_t range) {
  std::vector<std::size_t> heard;
  for (std::size_t n = 0; n < line.weights[range].size(); ++n) {
    if (line.weights[range][n] > 0.0) heard.push_back(n);
  }
  return heard;
}

/// Ranges within half a window of `range`.
inline std::vector<std::size_t> about(const AlignedLine& line, std::size_t range, std::size_t half) {
  std::vector<std::size_t> ranges;
  for (std::size_t k = 0; k < line.values.size(); ++k) {
    if (k + half >= range && k <= range + half) ranges.push_back(k);
  }
  return ranges;
}

struct Sums {
  double weights = 0.0;
  double mean = 0.0;  // sum of w s over that of w
};
inline Sums plain_sums(const AlignedLine& line, std::size_t range) {
  Sums sums;
  for (const std::size_t n : heard_at(line, range)) {
    sums.weights += line.weights[range][n];
    sums.mean += line.weights[range][n] * line.values[range][n].real();
  }
  sums.mean = sums.weights > 0.0 ? sums.mean / sums.weights : 0.0;
  return sums;
}

inline double plain_coherence(const AdaptiveOptions& options, const AlignedLine& line, std::size_t range) {
  double coherent = 0.0;
  double total = 0.0;
  for (const std::size_t k : about(line, range, options.half_window)) {
    double w = 0.0;
    double sum = 0.0;
    double squares = 0.0;
    for (const std::size_t n : heard_at(line, k)) {
      const double s = line.values[k][n].real();
      w += line.weights[k][n];
      sum += line.weights[k][n] * s;
      squares += line.weights[k][n] * s * s;
    }
    coherent += sum * sum;
    total += w * squares;
  }
  return total > 0.0 ? coherent / total : 0.0;
}

inline double plain_low_frequencies(const AdaptiveOptions& options, const AlignedLine& line, std::size_t range) {
  double low = 0.0;
  double total = 0.0;
  for (const std::size_t k : about(line, range, options.half_window)) {
    const std::vector<std::size_t> heard = heard_at(line, k);
    const std::size_t count = heard.size();
    for (std::size_t m = 0; m < count; ++m) {
      Complex sum;
      for (std::size_t n = 0; n < count; ++n) {
        sum += line.values[k][heard[n]].real() *
               std::polar(1.0, -2.0 * std::numbers::pi * static_cast<double>(m * n) / static_cast<double>(count));
      }
      total += std::norm(sum);  // Parseval: N times the sum of squares
      if (std::min(m, count - m) <= options.low_frequencies) low += std::norm(sum);
    }
  }
  return total > 0.0 ? low / total : 0.0;
}

inline double plain_sign_coherence(const AdaptiveOptions& options, const AlignedLine& line, std::size_t range) {
  double coherent = 0.0;
  double total = 0.0;
  for (const std::size_t k : about(line, range, options.half_window)) {
    double w = 0.0;
    double sum = 0.0;
    for (const std::size_t n : heard_at(line, k)) {
      const double s = line.values[k][n].real();
      w += line.weights[k][n];
      sum += line.weights[k][n] * (s > 0.0 ? 1.0 : s < 0.0 ? -1.0 : 0.0);
    }
    coherent += sum * sum;
    total += w * w;
  }
  return total > 0.0 ? 1.0 - std::sqrt(1.0 - std::min(1.0, coherent / total)) : 0.0;
}

inline double plain_phase_coherence(const AdaptiveOptions& options, const AlignedLine& line, std::size_t range) {
  double all = 0.0;
  double alive = 0.0;
  double least = 1e9;
  for (const double turn : {0.0, std::numbers::pi}) {
    std::vector<std::pair<double, double>> phases;
    all = 0.0;
    for (const std::size_t n : heard_at(line, range)) {
      all += line.weights[range][n];
      if (line.values[range][n] == Complex{}) continue;
      double phase = std::arg(line.values[range][n]) + turn;
      if (phase > std::numbers::pi) phase -= 2.0 * std::numbers::pi;
      phases.emplace_back(line.weights[range][n], phase);
    }
    alive = 0.0;
    double mean = 0.0;
    for (const auto& [w, phase] : phases) {
      alive += w;
      mean += w * phase;
    }
    if (!(alive > 0.0)) return 0.0;
    mean /= alive;
    double variance = 0.0;
    for (const auto& [w, phase] : phases) variance += w * (phase - mean) * (phase - mean);
    least = std::min(least, std::sqrt(variance / alive));
  }
  return std::max(0.0, 1.0 - options.sensitivity * least / (std::numbers::pi / std::sqrt(3.0))) * alive / all;
}

inline double plain_f_dmas(const AlignedLine& line, std::size_t range) {
  const std::vector<std::size_t> heard = heard_at(line, range);
  double sum = 0.0;
  double weights = 0.0;
  for (std::size_t a = 0; a < heard.size(); ++a) {
    for (std::size_t b = a + 1; b < heard.size(); ++b) {
      const double x = line.weights[range][heard[a]] * line.values[range][heard[a]].real();
      const double y = line.weights[range][heard[b]] * line.values[range][heard[b]].real();
      sum += std::copysign(std::sqrt(std::abs(x * y)), x * y);
      weights += std::sqrt(line.weights[range][heard[a]] * line.weights[range][heard[b]]);
    }
  }
  return weights > 0.0 ? sum / weights : 0.0;
}

inline double plain_short_lag(const AdaptiveOptions& options, const AlignedLine& line, std::size_t range) {
  const std::vector<std::size_t> heard = heard_at(line, range);
  const std::size_t count = heard.size();
  if (count < 2) return 0.0;
  const auto lags = static_cast<std::size_t>(
      std::clamp(std::round(options.short_lag * static_cast<double>(count)), 1.0, static_cast<double>(count - 1)));
  double sum = 0.0;
  for (std::size_t m = 1; m <= lags; ++m) {
    double correlation = 0.0;
    for (std::size_t i = 0; i + m < count; ++i) {
      double product = 0.0;
      double one = 0.0;
      double other = 0.0;
      for (const std::size_t k : about(line, range, options.half_window)) {
        const double a = line.values[k][heard[i]].real();
        const double b = line.values[k][heard[i + m]].real();
        product += a * b;
        one += a * a;
        other += b * b;
      }
      if (one * other > 0.0) correlation += product / std::sqrt(one * other);
    }
    sum += correlation / static_cast<double>(count - m);
  }
  return std::max(0.0, sum / static_cast<double>(lags));
}

/// The solution of a x = b by elimination with row pivots.
inline std::vector<Complex> solved(std::vector<std::vector<Complex>> a, std::vector<Complex> b) {
  const std::size_t n = b.size();
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c; r < n; ++r) {
      if (std::abs(a[r][c]) > std::abs(a[pivot][c])) pivot = r;
    }
    std::swap(a[c], a[pivot]);
    std::swap(b[c], b[pivot]);
    for (std::size_t r = c + 1; r < n; ++r) {
      const Complex f = a[r][c] / a[c][c];
      for (std::size_t k = c; k < n; ++k) a[r][k] -= f * a[c][k];
      b[r] -= f * b[c];
    }
  }
  for (std::size_t r = n; r-- > 0;) {
    for (std::size_t k = r + 1; k < n; ++k) b[r] -= a[r][k] * b[k];
    b[r] /= a[r][r];
  }
  return b;
}

inline double plain_capon(const AdaptiveOptions& options, const AlignedLine& line, std::size_t range) {
  const std::vector<std::size_t> heard = heard_at(line, range);
  const std::size_t count = heard.size();
  if (count == 0) return 0.0;
  const std::size_t length = std::max<std::size_t>(1, static_cast<std::size_t>(options.subarray * static_cast<double>(count)));
  const std::size_t subarrays = count - length + 1;
  std::vector<std::vector<Complex>> r(length, std::vector<Complex>(length));
  double trace = 0.0;
  const std::vector<std::size_t> ranges = about(line, range, options.half_window);
  for (const std::size_t k : ranges) {
    for (std::size_t l = 0; l < subarrays; ++l) {
      for (std::size_t i = 0; i < length; ++i) {
        for (std::size_t j = 0; j < length; ++j) {
          r[i][j] += line.values[k][heard[l + i]] * std::conj(line.values[k][heard[l + j]]) /
                     static_cast<double>(subarrays * ranges.size());
        }
      }
    }
  }
  for (std::size_t i = 0; i < length; ++i) trace += r[i][i].real();
  if (!(trace > 0.0)) return 0.0;
  for (std::size_t i = 0; i < length; ++i) r[i][i] += options.loading * trace / static_cast<double>(length);
  std::vector<Complex> w = solved(r, std::vector<Complex>(length, 1.0));
  Complex norm;
  for (const Complex& one : w) norm += one;
  Complex sum;
  for (std::size_t l = 0; l < subarrays; ++l) {
    for (std::size_t i = 0; i < length; ++i) sum += std::conj(w[i] / norm) * line.values[range][heard[l + i]];
  }
  return sum.real() / static_cast<double>(subarrays);
}

/// What the line is at a range, by the kind's name.
inline double plain_adaptive(const AdaptiveOptions& options, const AlignedLine& line, std::size_t range, bool normalise) {
  const Sums sums = plain_sums(line, range);
  const double scale = normalise ? 1.0 : sums.weights;
  const std::string_view kind = options.kind;
  if (kind == "coherence_factor") return scale * sums.mean * plain_coherence(options, line, range);
  if (kind == "generalised_coherence_factor") return scale * sums.mean * plain_low_frequencies(options, line, range);
  if (kind == "sign_coherence_factor") return scale * sums.mean * plain_sign_coherence(options, line, range);
  if (kind == "phase_coherence_factor") return scale * sums.mean * plain_phase_coherence(options, line, range);
  if (kind == "f_dmas") return scale * plain_f_dmas(line, range);
  if (kind == "short_lag_spatial_coherence") return plain_short_lag(options, line, range);
  if (kind == "capon") return scale * plain_capon(options, line, range);
  return scale * sums.mean;
}

}  // namespace echoform::test
