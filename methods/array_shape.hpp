// The shape of an array by the places of its elements: a line, flat or curved, or a field in two directions.
#pragma once

#include <vector>

#include "acquisition/acquisition.hpp"
#include "rays/curve.hpp"

namespace echoform {

/// The lengths of a line are along it, in whatever order its elements are listed: from one end to the other, or around a
/// ring, which begins behind its widest gap. The lengths of a field are along the two axes of its plane: the axis in the
/// plane of x and z (the image's plane), and the axis across.
struct ArrayShape {
  bool line = true;
  /// The distance from edge to edge: the outermost centres and an element's width, or a pitch where the width is not known.
  Metres aperture;
  Metres aperture_across;  ///< 0 for a line
  /// The mean distance of neighbours of a line. For a field, the distance of the rows that its elements form as the axis
  /// sees them; 0 where there is only one row, or the rows are irregular by more than a tenth. Then there are no grating
  /// lobes to report.
  Metres pitch;
  Metres pitch_across;  ///< 0 for a line
  /// Whether neighbours of a line are within a tenth of the pitch from each other. If not, the line has no grating lobes to
  /// report.
  bool even = true;
  /// The smallest and the largest distance of neighbours of a line.
  Metres nearest;
  Metres farthest;
};

/// Expects at least one element.
[[nodiscard]] ArrayShape array_shape(const Probe& probe);

/// The median over the elements of the distance to the nearest other one, in whatever order and arrangement. Elements at
/// one place count as one. 0 where there are fewer than two places.
[[nodiscard]] Metres neighbour_distance(const Probe& probe);

/// A probe of only those elements for which `take` is true.
[[nodiscard]] Probe subarray(const Probe& probe, const std::vector<bool>& take);

/// The array projected on the plane of x and z: places (x, z) in m from one end to the other. Elements behind each other
/// form one place, at their mean; each place lists its elements. Elements for which `take` is false are left out.
struct ArrayRow {
  Vector2 at;
  std::vector<std::size_t> elements;
};
[[nodiscard]] std::vector<ArrayRow> array_rows(const Probe& probe, const std::vector<bool>& take);

}  // namespace echoform
