#include "stages/scan_lines/delay_filter_kind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "base/errors.hpp"

namespace echoform {
namespace {

constexpr double pi = std::numbers::pi;

double sinc(double x) {
  if (x == std::round(x)) return x == 0.0 ? 1.0 : 0.0;
  return std::sin(pi * x) / (pi * x);
}

/// Position of the tap of index `k`, in samples from the sample from which places are counted.
double position(std::size_t k, std::size_t taps) {
  return static_cast<double>(k) - static_cast<double>((taps - 1) / 2);
}

void nearest(const DelayFilterOptions& /*options*/, double /*place*/, std::span<double> values) {
  values[0] = 1.0;
}

void linear(const DelayFilterOptions& /*options*/, double place, std::span<double> values) {
  values[0] = 1.0 - place;
  values[1] = place;
}

/// The polynomial through the samples.
void lagrange(const DelayFilterOptions& /*options*/, double place, std::span<double> values) {
  const std::size_t taps = values.size();
  for (std::size_t k = 0; k < taps; ++k) {
    values[k] = 1.0;
    for (std::size_t m = 0; m < taps; ++m) {
      if (m != k) values[k] *= (place - position(m, taps)) / (position(k, taps) - position(m, taps));
    }
  }
}

/// A sinc about the place in a Kaiser window, which is as many samples wide as the kind has taps, and moves along with the place.
void windowed_sinc(const DelayFilterOptions& options, double place, std::span<double> values) {
  const double half = 0.5 * static_cast<double>(delay_filter_kind(options.kind, "delay filter").size_of(options));
  const double beta = kaiser_beta_of(options);
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double distance = position(k, values.size()) - place;
    const double share = distance / half;
    values[k] = std::abs(share) > 1.0 ? 0.0
                                      : sinc(distance) * std::cyl_bessel_i(0.0, beta * std::sqrt(1.0 - share * share)) /
                                            std::cyl_bessel_i(0.0, beta);
  }
}

/// The power of white noise that the least-squares fit assumes, relative to the power of the echoes. Without any noise,
/// coefficients that narrow bands leave undetermined would grow without bounds.
constexpr double assumed_noise = 1e-8;

/// The integral over frequency of weight times cos(2 pi frequency distance), divided by the integral of the weight. The weight is
/// the power of a Gaussian spectrum, cut off at 0 and at half the sample rate.
double weighted_cosine(const DelayFilterOptions& options, double distance) {
  constexpr std::size_t steps = 512;
  // exp(-4 ln 2 ((f - centre) / bandwidth)^2) is the amplitude, which is 1/2 at centre +- bandwidth / 2.
  const double reach = 2.0 * options.bandwidth;  // where the power has fallen to 2e-10
  const double low = std::max(0.0, options.centre - reach);
  const double high = std::min(0.5, options.centre + reach);
  double sum = 0.0;
  double weights = 0.0;
  for (std::size_t n = 0; n <= steps; ++n) {
    const double frequency = low + (high - low) * static_cast<double>(n) / static_cast<double>(steps);
    const double away = (frequency - options.centre) / options.bandwidth;
    const double simpson = n == 0 || n == steps ? 1.0 : (n % 2 == 1 ? 4.0 : 2.0);
    const double weight = simpson * std::exp(-8.0 * std::numbers::ln2 * away * away);
    sum += weight * std::cos(2.0 * pi * frequency * distance);
    weights += weight;
  }
  return sum / weights;
}

/// Cholesky's method for the positive definite Toeplitz matrix whose first column is `column`. `values` holds the right side and
/// becomes the solution.
void solve_toeplitz(std::span<const double> column, std::span<double> values) {
  const std::size_t n = values.size();
  std::vector<double> lower(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = column[i - j];
      for (std::size_t k = 0; k < j; ++k) sum -= lower[i * n + k] * lower[j * n + k];
      lower[i * n + j] = i == j ? std::sqrt(sum) : sum / lower[j * n + j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) values[i] -= lower[i * n + k] * values[k];
    values[i] /= lower[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) values[i] -= lower[k * n + i] * values[k];
    values[i] /= lower[i * n + i];
  }
}

/// Least mean squares over the echoes' spectrum: of all filters with these taps, this one has the minimum power of error, for
/// echoes and assumed noise together. Source: Laakso and others, "Splitting the unit delay" (1996).
void least_squares(const DelayFilterOptions& options, double place, std::span<double> values) {
  const std::size_t taps = values.size();
  std::vector<double> column(taps);
  for (std::size_t k = 0; k < taps; ++k) {
    column[k] = weighted_cosine(options, static_cast<double>(k));
    values[k] = weighted_cosine(options, position(k, taps) - place);
  }
  column[0] += assumed_noise;
  solve_toeplitz(column, values);
}

std::size_t one(std::size_t /*size*/) {
  return 1;
}
std::size_t two(std::size_t /*size*/) {
  return 2;
}
std::size_t one_more(std::size_t size) {
  return size + 1;
}
std::size_t as_many(std::size_t size) {
  return size;
}

double sinc_of(double frequency) {
  return sinc(frequency);
}
double sinc_squared(double frequency) {
  return sinc(frequency) * sinc(frequency);
}
double upsampled_sinc_squared(double frequency) {
  return sinc_squared(frequency / static_cast<double>(upsampling_factor));
}

constexpr DelayFilterKind table[] = {
    {.name = "nearest",
     .meaning = "The sample next to the place.",
     .taps = one,
     .phases = 1,
     .coefficients = nearest,
     .ideal_mean = sinc_of},
    {.name = "linear",
     .meaning = "A straight line between the two samples beside the place.",
     .taps = two,
     .phases = 1,
     .coefficients = linear,
     .ideal_mean = sinc_squared},
    {.name = "lagrange",
     .meaning = "The polynomial of this order through the samples about the place.",
     .size_name = "order",
     .least = 1,
     .most = 5,
     .usual = 3,
     .taps = one_more,
     .phases = tabulated_phases,
     .coefficients = lagrange},
    {.name = "windowed_sinc",
     .meaning = "A sinc within a Kaiser window.",
     .size_name = "taps",
     .least = 4,
     .most = 16,
     .step = 2,
     .usual = 8,
     .uses_kaiser_beta = true,
     .usual_kaiser_beta = [](std::size_t taps) { return taps < 14 ? 5.0 : 8.0; },
     .taps = as_many,
     .phases = tabulated_phases,
     .coefficients = windowed_sinc},
    {.name = "least_squares",
     .meaning = "The least error over the echoes' spectrum, a Gaussian of this centre and bandwidth.",
     .size_name = "taps",
     .least = 2,
     .most = 16,
     .usual = 4,
     .uses_band = true,
     .taps = as_many,
     .phases = tabulated_phases,
     .coefficients = least_squares},
    // At half a sample, the window's ends lie on samples, and both of these count, so that the phase stays linear. That takes one
    // tap more than the phases a quarter before and behind.
    {.name = "upsampled",
     .meaning = "Each A-scan at four times its sample rate, by sincs within a Kaiser window, and a straight line between.",
     .size_name = "taps",
     .least = 7,
     .most = 15,
     .step = 4,
     .usual = 11,
     .uses_kaiser_beta = true,
     .usual_kaiser_beta = [](std::size_t /*taps*/) { return 5.0; },
     .taps = one_more,
     .phases = upsampling_factor,
     .upsampling = true,
     .coefficients = windowed_sinc,
     .ideal_mean = upsampled_sinc_squared},
};

}  // namespace

std::span<const DelayFilterKind> delay_filter_kinds() {
  return table;
}

const DelayFilterKind& delay_filter_kind(std::string_view name, std::string_view where) {
  std::string names;
  for (const DelayFilterKind& kind : table) {
    if (kind.name == name) return kind;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", kind.name);
  }
  throw InputError(where, fmt::format("\"{}\"", name), "one of " + names);
}

double kaiser_beta_of(const DelayFilterOptions& options) {
  const DelayFilterKind& kind = delay_filter_kind(options.kind, "delay filter");
  return options.kaiser_beta.value_or(kind.uses_kaiser_beta ? kind.usual_kaiser_beta(kind.size_of(options)) : 0.0);
}

std::string name_of(const DelayFilterOptions& options) {
  const DelayFilterKind& kind = delay_filter_kind(options.kind, "delay filter");
  return kind.size_name.empty() ? std::string(kind.name) : fmt::format("{} {}", kind.name, kind.size_of(options));
}

}  // namespace echoform
