// Bounds of curves: boxes of places, and directions of tangents. For host and device.
#pragma once

#include <math.h>

#include "gpu/host_device.hpp"
#include "rays/curve.hpp"

namespace echoform::rays {

/// A box; places on its border lie within it.
struct CurveBox {
  Vector2 low{1e300, 1e300};
  Vector2 high{-1e300, -1e300};

  ECHOFORM_HOST_DEVICE void hold(Vector2 place) {
    low = {place.x < low.x ? place.x : low.x, place.z < low.z ? place.z : low.z};
    high = {high.x < place.x ? place.x : high.x, high.z < place.z ? place.z : high.z};
  }
  ECHOFORM_HOST_DEVICE void widen(double by) {
    low = low - Vector2{by, by};
    high = high + Vector2{by, by};
  }
  [[nodiscard]] ECHOFORM_HOST_DEVICE bool meets(const CurveBox& other) const {
    return low.x <= other.high.x && high.x >= other.low.x && low.z <= other.high.z && high.z >= other.low.z;
  }
};

/// Box of the part of a straight path that lies at the depths of `within`, and 1 nm more against rounding. Usually that is
/// only a short part of the path.
ECHOFORM_HOST_DEVICE CurveBox box_of_way(Vector2 from, Vector2 along, const CurveBox& within) {
  double begin = 0.0;
  double end = 1.0;
  if (fabs(along.z) > 1e-9) {
    const double low = (within.low.z - from.z) / along.z;
    const double high = (within.high.z - from.z) / along.z;
    const double first = high < low ? high : low;
    const double last = low < high ? high : low;
    begin = begin < first ? first : begin;
    end = last < end ? last : end;
  }
  CurveBox box;
  if (begin > end) return box;
  box.hold(from + begin * along);
  box.hold(from + end * along);
  box.widen(1e-9);
  return box;
}

/// The directions between which the tangents of a curve lie, if they stay within half a turn.
struct CurveDirections {
  Vector2 least;
  Vector2 greatest;
  bool narrow = false;  ///< whether they do

  /// Whether straight lines along `along` meet the curve at most once: no two places of the curve lie in that direction from
  /// each other.
  [[nodiscard]] ECHOFORM_HOST_DEVICE bool meet_once(Vector2 along) const {
    return narrow && cross(least, along) * cross(greatest, along) > 0.0;
  }
};

}  // namespace echoform::rays
