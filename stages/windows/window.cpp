#include "stages/windows/window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "base/errors.hpp"

namespace echoform {
namespace {

double none_at(const Window& /*window*/, double /*t*/) {
  return 1.0;
}

double tukey_at(double fraction, double t) {
  const double from_end = std::min(t, 1.0 - t);
  if (fraction <= 0.0 || from_end >= 0.5 * fraction) return 1.0;
  const double s = std::sin(std::numbers::pi * from_end / fraction);
  return s * s;
}
double tukey_at(const Window& window, double t) {
  return tukey_at(window.tukey_fraction, t);
}
double hann_at(const Window& /*window*/, double t) {
  return tukey_at(1.0, t);
}

double hamming_at(const Window& /*window*/, double t) {
  return 0.54 - 0.46 * std::cos(2.0 * std::numbers::pi * t);
}

double blackman_at(const Window& /*window*/, double t) {
  // Only rounding makes the ends negative.
  return std::max(0.0, 0.42 - 0.5 * std::cos(2.0 * std::numbers::pi * t) + 0.08 * std::cos(4.0 * std::numbers::pi * t));
}

double kaiser_at(const Window& window, double t) {
  const double s = 2.0 * t - 1.0;
  const double beta = window.kaiser_beta;
  return std::cyl_bessel_i(0.0, beta * std::sqrt(std::max(0.0, 1.0 - s * s))) / std::cyl_bessel_i(0.0, beta);
}

double gauss_at(const Window& window, double t) {
  const double s = (2.0 * t - 1.0) / window.gauss_width;
  return std::exp(-0.5 * s * s);
}

// The shapes in the order of the kinds.
#define ECHOFORM_SHAPE(NAME) NAME##_at,
constexpr double (*shapes[])(const Window&, double) = {ECHOFORM_WINDOWS(ECHOFORM_SHAPE)};
#undef ECHOFORM_SHAPE

void require(const char* where, const char* name, double value, Interval range) {
  if (range.holds(value)) return;
  throw InputError(fmt::format("{}, {}", where, name), fmt::format("{}", value),
                   fmt::format("{} to {}", range.least, range.most));
}

}  // namespace

double window_at(const Window& window, double t) {
  return shapes[static_cast<std::size_t>(window.kind)](window, t);
}

void validate(const Window& window, const char* where) {
  require(where, "Tukey fraction", window.tukey_fraction, Window::tukey_fractions);
  require(where, "Kaiser beta", window.kaiser_beta, Window::kaiser_betas);
  require(where, "Gauss width", window.gauss_width, Window::gauss_widths);
}

}  // namespace echoform
