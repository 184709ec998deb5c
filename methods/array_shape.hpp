// An array by the places of its elements: a line of them, flat or curved, or a field in two directions.
#pragma once

#include <vector>

#include "acquisition/acquisition.hpp"
#include "rays/curve.hpp"

namespace echoform {

/// Of a line, lengths are along it, in whatever order its elements stand: from one end to the other, or around a ring, which
/// begins behind its widest gap. Of a field they are along the two axes of its plane: the one in the plane of x and z (the
/// image's), and across.
struct ArrayShape {
  bool line = true;
  /// From edge to edge: an element's width beyond the outermost centres, or a pitch where the width is not known.
  Metres aperture;
  Metres aperture_across;  ///< 0 for a line
  /// Of a line, mean distance of neighbours; of a field, distance of the rows that its elements form as the axis sees them. 0
  /// where there is one alone, or they stand irregularly, more than a tenth off: then there are no grating lobes to tell.
  Metres pitch;
  Metres pitch_across;  ///< 0 for a line
  /// Whether neighbours of a line stand within a tenth of the pitch from each other: where not, it has no grating lobes to tell.
  bool even = true;
  /// Of neighbours of a line, the distance of the nearest and of the farthest.
  Metres nearest;
  Metres farthest;
};

/// Expects at least one element.
[[nodiscard]] ArrayShape array_shape(const Probe& probe);

/// Median over the elements of how far the nearest other one stands, in whatever order and arrangement; elements at one place
/// count as one. 0 where there are not two places.
[[nodiscard]] Metres neighbour_distance(const Probe& probe);

/// A probe of those elements alone for which `take` is true.
[[nodiscard]] Probe subarray(const Probe& probe, const std::vector<bool>& take);

/// The array as the plane of x and z sees it: places (x, z) in m from one end to the other, where elements behind each other are
/// one, at their mean; and for each which elements those are. Those for which `take` is false are left out.
struct ArrayRow {
  Vector2 at;
  std::vector<std::size_t> elements;
};
[[nodiscard]] std::vector<ArrayRow> array_rows(const Probe& probe, const std::vector<bool>& take);

}  // namespace echoform
