// Places where the time over a piece changes from falling to rising, for a point near the piece. There the slope of T
// changes within the point's depth, and it may change its sign twice between two nodes (a maximum and a minimum of the time)
// without the nodes showing it.
#pragma once

#include <math.h>

#include <cstddef>

#include "rays/crossing_math.hpp"

namespace echoform::rays {

/// Largest distance of a near point from a piece, as a share of the length of the piece's chord.
inline constexpr double near_piece = 1.0;

/// Whether `point` is near to the piece from `from` to `to`.
[[nodiscard]] ECHOFORM_HOST_DEVICE bool lies_near(Vector2 point, Vector2 from, Vector2 to) {
  const Vector2 along = to - from;
  const double squared = dot(along, along);
  const Vector2 way = point - from;
  const double limit = near_piece * squared;
  const double part = dot(way, along);
  return fabs(cross(along, way)) < limit && part > -limit && part < squared + limit;
}

/// Bounds of t between which T turns.
struct NearTurns {
  static constexpr std::size_t most = 4;
  double low[most]{};
  double high[most]{};
  std::size_t count = 0;
};

/// All turns over `piece` that are further apart than a third of their distance from the place beneath the point, and those that
/// a parabola through three slopes foretells.
[[nodiscard]] NearTurns near_turns(const CurvePiece& piece, const CrossingEnds& ends);

}  // namespace echoform::rays
