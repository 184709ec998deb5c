#include "stages/wall_filter/wall_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>

#include "base/errors.hpp"

namespace echoform {
namespace {

void require_of_filter(bool right, std::string_view option, std::size_t found, const std::string& expected) {
  if (!right) throw InputError(fmt::format("wall-filter stage, {}", option), fmt::format("{}", found), expected);
}

/// (1 - z^-1)^order / 2^order.
std::vector<double> canceller_taps(std::size_t order) {
  std::vector<double> taps{1.0};
  for (std::size_t k = 0; k < order; ++k) {
    taps.push_back(0.0);
    for (std::size_t n = taps.size(); n-- > 1;) taps[n] -= taps[n - 1];
    for (double& tap : taps) tap *= 0.5;
  }
  return taps;
}

std::vector<double> wall_filter_taps(const WallFilterOptions& options) {
  return options.taps.empty() ? canceller_taps(options.order) : options.taps;
}

/// Polynomials of ascending order at places -1 .. 1. Each is made orthogonal to those before it, twice because of rounding.
std::vector<std::vector<double>> orthonormal_polynomials(std::size_t count, std::size_t order) {
  std::vector<std::vector<double>> basis;
  for (std::size_t p = 0; p <= order; ++p) {
    std::vector<double> next(count);
    for (std::size_t n = 0; n < count; ++n) {
      const double place = 2.0 * static_cast<double>(n) / static_cast<double>(count - 1) - 1.0;
      next[n] = p == 0 ? 1.0 : basis.back()[n] * place;
    }
    for (int pass = 0; pass < 2; ++pass) {
      for (const std::vector<double>& q : basis) {
        double share = 0.0;
        for (std::size_t n = 0; n < count; ++n) share += q[n] * next[n];
        for (std::size_t n = 0; n < count; ++n) next[n] -= share * q[n];
      }
    }
    double square = 0.0;
    for (const double value : next) square += value * value;
    for (double& value : next) value /= std::sqrt(square);
    basis.push_back(std::move(next));
  }
  return basis;
}

}  // namespace

void validate(const WallFilterOptions& options) {
  using O = WallFilterOptions;
  const std::size_t count = options.ensemble;
  require_of_filter(count >= O::least_ensemble && count <= O::most_ensemble, "ensemble", count,
                    fmt::format("{} to {} samples", O::least_ensemble, O::most_ensemble));
  const bool fir = options.kind == WallFilterKind::fir;
  if (options.kind == WallFilterKind::regression || (fir && options.taps.empty())) {
    require_of_filter(options.order + 2 <= count, "order", options.order,
                      fmt::format("at most {} of an ensemble of {}", count - 2, count));
  }
  if (fir) {
    require_of_filter(options.taps.size() < count, "taps", options.taps.size(),
                      fmt::format("at most {} of an ensemble of {}", count - 1, count));
    if (!std::ranges::all_of(options.taps, [](double tap) { return std::isfinite(tap); })) {
      throw InputError("wall-filter stage, taps", "one that is not finite", "finite ones");
    }
    if (!options.taps.empty() && std::ranges::all_of(options.taps, [](double tap) { return tap == 0.0; })) {
      throw InputError("wall-filter stage, taps", "none but 0", "one at least that lets something through");
    }
  }
  if (options.kind == WallFilterKind::svd) {
    require_of_filter(options.components >= 1 && options.components < count, "components", options.components,
                      fmt::format("1 to {} of an ensemble of {}", count - 1, count));
  }
}

std::size_t filtered_ensemble(const WallFilterOptions& options) {
  return options.kind == WallFilterKind::fir ? options.ensemble + 1 - wall_filter_taps(options).size() : options.ensemble;
}

std::vector<double> wall_filter_matrix(const WallFilterOptions& options) {
  const std::size_t count = options.ensemble;
  const std::size_t rows = filtered_ensemble(options);
  std::vector<double> matrix(rows * count);
  if (options.kind == WallFilterKind::fir) {
    const std::vector<double> taps = wall_filter_taps(options);
    for (std::size_t m = 0; m < rows; ++m) {
      for (std::size_t k = 0; k < taps.size(); ++k) matrix[m * count + m + taps.size() - 1 - k] = taps[k];
    }
    return matrix;
  }
  for (std::size_t n = 0; n < count; ++n) matrix[n * count + n] = 1.0;
  if (options.kind != WallFilterKind::regression) return matrix;
  for (const std::vector<double>& q : orthonormal_polynomials(count, options.order)) {
    for (std::size_t m = 0; m < count; ++m) {
      for (std::size_t n = 0; n < count; ++n) matrix[m * count + n] -= q[m] * q[n];
    }
  }
  return matrix;
}

std::size_t wall_filter_device_bytes(const WallFilterOptions& options) {
  const std::size_t square = options.ensemble * options.ensemble;
  if (options.kind != WallFilterKind::svd) return filtered_ensemble(options) * options.ensemble * sizeof(float);
  const std::size_t matrices = options.ensemble > clutter_in_shared_memory ? 2 : 0;
  return 2 * square * sizeof(float) + (clutter_parts + matrices) * square * 2 * sizeof(double);
}

double wall_filter_gain(const WallFilterOptions& options, double f) {
  const std::vector<double> matrix = wall_filter_matrix(options);
  const std::size_t rows = filtered_ensemble(options);
  double power = 0.0;
  for (std::size_t m = 0; m < rows; ++m) {
    std::complex<double> sum;
    for (std::size_t n = 0; n < options.ensemble; ++n) {
      sum += matrix[m * options.ensemble + n] * std::polar(1.0, 2.0 * std::numbers::pi * f * static_cast<double>(n));
    }
    power += std::norm(sum);
  }
  return power / static_cast<double>(rows);
}

double wall_filter_cutoff(const WallFilterOptions& options) {
  constexpr int steps = 1024;
  const auto passes = [&](double f) { return wall_filter_gain(options, f) >= 0.5; };
  if (passes(0.0)) return 0.0;
  for (int k = 1; k <= steps; ++k) {
    double high = 0.5 * k / steps;
    if (!passes(high)) continue;
    double low = high - 0.5 / steps;
    for (int halving = 0; halving < 20; ++halving) {
      const double middle = 0.5 * (low + high);
      (passes(middle) ? high : low) = middle;
    }
    return high;
  }
  return 0.5;
}

}  // namespace echoform
