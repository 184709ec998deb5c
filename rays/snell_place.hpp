// Where a ray meets a plane, or the shortest time an edge: one unknown.
#pragma once

#include <cmath>

namespace echoform::rays {

/// How far along from the source's foot, 0 to `far`, the time before * sqrt(x^2 + height^2) + after * sqrt((far - x)^2 +
/// depth^2) is least. Lengths in m, more than 0; slownesses in s/m. The result is exact to rounding: Newton's method within
/// a bracket, on a slope that grows, whose last step's error is its square.
[[nodiscard]] inline double snell_place(double height, double depth, double far, double before, double after) {
  double low = 0.0;
  double high = far;
  double x = far * height / (height + depth);
  for (int step = 0; step < 100; ++step) {
    const double left = far - x;
    const double one = std::sqrt(x * x + height * height);
    const double other = std::sqrt(left * left + depth * depth);
    const double slope = before * x / one - after * left / other;
    (slope < 0.0 ? low : high) = x;
    const double bend = before * height * height / (one * one * one) + after * depth * depth / (other * other * other);
    double next = x - slope / bend;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    if (std::abs(next - x) <= 1e-9 * far) return next;
    x = next;
  }
  return x;
}

}  // namespace echoform::rays
