// The line along which the elements of an array stand, if there is one.
#pragma once

#include <span>

namespace echoform {

/// Places closer to each other than this share of the whole count as one. It is above the rounding of files and below the
/// 1/63 between 64 rows.
inline constexpr double same_place = 1e-3;

/// The longest extent of places that have two coordinates each.
struct LongestExtent {
  double cosine = 1.0;  ///< of the angle from the first coordinate's axis to their longest extent
  double sine = 0.0;
  /// Whether the places lie on a line: there are fewer than 3, or the extent across it is at most a thousandth of it.
  bool alone = true;
};

/// Finds the extent by the principal axes of the places; `u` and `v` hold their coordinates and have the same length, at
/// least 1.
[[nodiscard]] LongestExtent longest_extent(std::span<const double> u, std::span<const double> v);

}  // namespace echoform
