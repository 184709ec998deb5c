// The valid range of an option, stated once next to the option.
#pragma once

namespace echoform {

/// The interval from `least` to `most`, both included.
struct Interval {
  double least = 0.0;
  double most = 0.0;

  /// False for NaN.
  [[nodiscard]] constexpr bool holds(double value) const { return value >= least && value <= most; }
};

}  // namespace echoform
