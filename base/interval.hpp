// The range of an option, stated once beside it.
#pragma once

namespace echoform {

/// From `least` to `most`, both included.
struct Interval {
  double least = 0.0;
  double most = 0.0;

  /// False for NaN.
  [[nodiscard]] constexpr bool holds(double value) const { return value >= least && value <= most; }
};

}  // namespace echoform
