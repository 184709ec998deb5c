// Along which line the elements of an array stand, if they stand along one.
#pragma once

#include <span>

namespace echoform {

/// Places nearer to each other than this share of the whole are one: rounding of files, against 1/63 between 64 rows.
inline constexpr double same_place = 1e-3;

/// Of places by two coordinates.
struct LongestExtent {
  double cosine = 1.0;  ///< of the angle of their longest extent from the first coordinate
  double sine = 0.0;
  bool alone = true;  ///< the extent across it is less than a thousandth: they stand along a line
};

/// By the principal axes of the places; `u` and `v` have the same length, at least 1.
[[nodiscard]] LongestExtent longest_extent(std::span<const double> u, std::span<const double> v);

}  // namespace echoform
