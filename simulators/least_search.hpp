// Searches for minimum times: among samples, between two samples of one curve, and over several curves at once.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "simulators/sampled_curve.hpp"

namespace echoform::simulated {

/// Samples whose times are local minima, the earliest first. Samples at the ends, or next to a sample without a time (NaN),
/// are no minima.
[[nodiscard]] std::vector<std::size_t> local_minima(const std::vector<double>& times);

/// How far `to` lies from `from` along a direction of length 1.
[[nodiscard]] inline double towards(Place direction, Place from, Place to) {
  return direction.x * (to.x - from.x) + direction.z * (to.z - from.z);
}

/// The argument of the minimum of f between a and b, by golden sections, to 1e-6 of their distance. Since f is stationary
/// there, its value is exact to rounding.
template <class Function>
[[nodiscard]] double golden_section(const Function& f, double a, double b) {
  constexpr double golden = 0.6180339887498949;
  double left = b - golden * (b - a);
  double right = a + golden * (b - a);
  double at_left = f(left);
  double at_right = f(right);
  for (int step = 0; step < 29; ++step) {
    if (at_left < at_right) {
      b = right;
      right = left;
      at_right = at_left;
      left = b - golden * (b - a);
      at_left = f(left);
    } else {
      a = left;
      left = right;
      at_left = at_right;
      right = a + golden * (b - a);
      at_right = f(right);
    }
  }
  return 0.5 * (a + b);
}

/// Through the couplant, off the backwall and off the front surface.
inline constexpr std::size_t most_curves = 3;

/// Straight legs from one place to another by way of a place on each of several curves.
struct Polyline {
  Place from;
  Place to;
  std::span<const SampledCurve* const> curves;  ///< 1 to most_curves
  std::span<const double> slowness;             ///< of the legs, s/m; one more than curves
};

using Parameters = std::array<double, most_curves>;

/// Moves `at`, a parameter on each curve, to a local minimum of the time over all curves together, and returns that time.
/// Each step looks at five places on each curve, two to either side of the present one, and moves to the combination of
/// minimum time (by dynamic programming). After that the places are half as far apart, unless the step moved to an outermost
/// place, beyond which the time may be shorter. `width` is the distance of the first places, for each curve; the last ones
/// are 1 / 1024 of it apart. A time that is stationary there is exact to the square of that. NaN where the search does not
/// converge.
double narrow_down(const Polyline& way, Parameters& at, const Parameters& width);

}  // namespace echoform::simulated
