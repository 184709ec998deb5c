// Places of a piece of a curve, the nearest one, and whether a straight way crosses it: for host and device.
#pragma once

#include <math.h>

#include "gpu/host_device.hpp"
#include "rays/curve_piece.hpp"

namespace echoform::rays {

/// point_of() of curve_piece.hpp.
ECHOFORM_HOST_DEVICE CurvePoint place_of(const CurvePiece& piece, double t) {
  const double inverse = 1.0 / (1.0 + piece.q * t * t);
  const double turn = 2.0 * piece.q * t;
  const Vector2 way = (t * inverse) * (piece.b + t * (piece.c + t * piece.d));
  const Vector2 first = inverse * (piece.b + t * (2.0 * piece.c + (3.0 * t) * piece.d) - turn * way);
  const Vector2 second = inverse * (2.0 * piece.c + (6.0 * t) * piece.d - (2.0 * turn) * first - (2.0 * piece.q) * way);
  return {piece.at + way, first, second};
}

ECHOFORM_HOST_DEVICE double within_piece(double t) {
  return t < 0.0 ? 0.0 : (1.0 < t ? 1.0 : t);
}

/// nearest_place() of curve_piece.hpp.
ECHOFORM_HOST_DEVICE double nearest_on(const CurvePiece& piece, Vector2 from, double t) {
  // Half of the squared distance: its slope.
  const CurvePoint begin = place_of(piece, 0.0);
  const CurvePoint end = place_of(piece, 1.0);
  const bool falls = dot(begin.at - from, begin.first) < 0.0;
  const bool rises = dot(end.at - from, end.first) > 0.0;
  if (!falls && !rises) return length(from - end.at) < length(from - piece.at) ? 1.0 : 0.0;
  if (!falls || !rises) return falls ? 1.0 : 0.0;
  double low = 0.0;
  double high = 1.0;
  t = within_piece(t);
  for (int step = 0; step < 60; ++step) {
    const CurvePoint place = place_of(piece, t);
    const double slope = dot(place.at - from, place.first);
    (slope < 0.0 ? low : high) = t;
    const double bend = dot(place.first, place.first) + dot(place.at - from, place.second);
    const double newton = -slope / bend;
    // Pieces are at most metres long: this is below a nanometre, and squared below all rounding.
    if (bend > 0.0 && fabs(newton) < 1e-9) return within_piece(t + newton);
    const bool within = bend > 0.0 && t + newton > low && t + newton < high;
    t = within ? t + newton : 0.5 * (low + high);
  }
  return t;
}

/// c[0] + c[1] t + c[2] t^2 + c[3] t^3.
struct PieceCubic {
  double c[4];

  [[nodiscard]] ECHOFORM_HOST_DEVICE double at(double t) const { return c[0] + t * (c[1] + t * (c[2] + t * c[3])); }

  /// The quotient of p(t) - p(root) and t - root.
  [[nodiscard]] ECHOFORM_HOST_DEVICE PieceCubic without_root(double root) const {
    const double third = c[3];
    const double second = c[2] + root * third;
    return {{c[1] + root * second, second, third, 0.0}};
  }
};

/// Where 0 < t < 1 a cubic's slope turns its sign, in order; 0 where there is none.
struct CubicTurns {
  double first;
  double second;
};
ECHOFORM_HOST_DEVICE CubicTurns turns_of(const PieceCubic& cubic) {
  const double a = 3.0 * cubic.c[3];
  const double half = cubic.c[2];
  const double inner = half * half - a * cubic.c[1];
  if (!(inner > 0.0)) return {0.0, 0.0};
  // The root without cancellation, and the other one from their product.
  const double sum = -(half + copysign(sqrt(inner), half));
  const double one = a != 0.0 ? sum / a : 0.0;
  const double other = sum != 0.0 ? cubic.c[1] / sum : 0.0;
  const double x = one > 0.0 && one < 1.0 ? one : 0.0;
  const double y = other > 0.0 && other < 1.0 ? other : 0.0;
  return x > y ? CubicTurns{y, x} : CubicTurns{x, y};
}

/// The root between `low` and `high`, where the cubic is of different signs.
ECHOFORM_HOST_DEVICE double root_between(const PieceCubic& cubic, double low, double high) {
  const bool rises = cubic.at(high) > cubic.at(low);
  for (int step = 0; step < 60; ++step) {
    const double middle = 0.5 * (low + high);
    ((cubic.at(middle) < 0.0) == rises ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

/// Whether the way crosses the piece, more than 1 nm from either end. An end on the piece is no crossing, however flat the way
/// leaves. `last`: where the piece after begins, so that a way through there crosses one of the two.
ECHOFORM_HOST_DEVICE bool way_crosses(const CurvePiece& piece, Vector2 last, const WayOverPiece& way) {
  const Vector2 along = way.to - way.from;
  const double squared = dot(along, along);
  const double far = sqrt(squared);
  const double limit = 1e-9 / (far < 1e-300 ? 1e-300 : far);
  // The side of the way on which the curve is at t, times 1 + q t^2.
  const double side = cross(along, piece.at - way.from);
  PieceCubic sides{{side, cross(along, piece.b), cross(along, piece.c) + piece.q * side, cross(along, piece.d)}};
  const bool whole = isnan(way.from_t) && isnan(way.to_t);
  if (!isnan(way.from_t)) sides = sides.without_root(way.from_t);
  if (!isnan(way.to_t)) sides = sides.without_root(way.to_t);
  const CubicTurns turns = turns_of(sides);
  double before = 0.0;
  bool above = sides.c[0] < 0.0;
  for (int part = 0; part < 3; ++part) {
    const double t = part == 0 ? turns.first : (part == 1 ? turns.second : 1.0);
    if (!(t > before)) continue;
    const bool now = whole && t == 1.0 ? cross(along, last - way.from) < 0.0 : sides.at(t) < 0.0;
    if (now != above) {
      const Vector2 at = place_of(piece, root_between(sides, before, t)).at;
      const double place = dot(at - way.from, along) / squared;
      if (place > limit && place < 1.0 - limit) return true;
    }
    above = now;
    before = t;
  }
  return false;
}

/// The same, of a piece that leads from `begin` to `end` and keeps within `sag`, m, of the straight way between them: which most
/// ways pass.
ECHOFORM_HOST_DEVICE bool way_crosses(const CurvePiece& piece, Vector2 begin, Vector2 end, double sag, const WayOverPiece& way) {
  const Vector2 along = way.to - way.from;
  const double side_begin = cross(along, begin - way.from);
  const double side_end = cross(along, end - way.from);
  if (sag == 0.0) {
    if ((side_begin < 0.0) == (side_end < 0.0)) return false;
  } else {
    const double margin = sag * length(along);
    if ((side_begin > margin && side_end > margin) || (side_begin < -margin && side_end < -margin)) return false;
  }
  return way_crosses(piece, end, way);
}

}  // namespace echoform::rays
