// The weights that interpolation is defined by, plainly: what scan conversion is held against.
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "methods/tfm/plan.hpp"

namespace echoform::test {

inline const auto all_ways = {ScanInterpolation::nearest, ScanInterpolation::bilinear, ScanInterpolation::cubic};

/// Keys' kernel as published, for any sign of x.
inline double keys_kernel(double x, double a) {
  x = std::abs(x);
  if (x < 1.0) return (a + 2.0) * x * x * x - (a + 3.0) * x * x + 1.0;
  if (x < 2.0) return a * x * x * x - 5.0 * a * x * x + 8.0 * a * x - 4.0 * a;
  return 0.0;
}

/// Weight of the value at `index` (any integer, also beyond the ends) at place u, by the definition of each method.
inline double interpolation_weight(ScanInterpolation how, double u, long index, double alpha) {
  const double distance = u - static_cast<double>(index);
  if (how == ScanInterpolation::nearest) return std::floor(u + 0.5) == static_cast<double>(index) ? 1.0 : 0.0;
  if (how == ScanInterpolation::bilinear) return std::max(0.0, 1.0 - std::abs(distance));
  return keys_kernel(distance, alpha);
}

}  // namespace echoform::test
