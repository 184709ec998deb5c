// Whether a figure grows: a line through readings that bursts, steps and outliers do not tilt.
#pragma once

#include <span>

namespace echoform::soak {

struct Slope {
  double median = 0.0;  ///< of the slopes between any two readings (Theil 1950, Sen 1968)
  double low = 0.0;     ///< 95 % band of it, from the variance of Kendall's statistic
  double high = 0.0;
};

/// Value per unit of place; `places` rise strictly. All 0 for fewer than two readings. Work and memory are quadratic in their
/// number.
[[nodiscard]] Slope theil_sen(std::span<const double> places, std::span<const double> values);

struct Growth {
  Slope whole;         ///< of all readings
  double rise = 0.0;   ///< whole.median times the length of the run
  bool grows = false;  ///< by the rule of judge_growth()
};

/// Readings fewer than this say nothing about growth.
inline constexpr std::size_t fewest_readings = 12;

/// A figure grows if the readings prove it (the band lies above 0) in the whole run and in each of its halves, and the rise over
/// the run is more than `grain`, the step in which such a figure changes by itself. A single step, such as memory that an
/// allocator keeps, lies in one half only; a leak goes on in both. The second half is judged by the same rule as a run of its
/// own: a leak may begin late. Fewer than fewest_readings never grow.
[[nodiscard]] Growth judge_growth(std::span<const double> places, std::span<const double> values, double grain);

}  // namespace echoform::soak
