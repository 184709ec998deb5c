#include "rays/curve_piece.hpp"

#include <algorithm>
#include <cmath>

namespace echoform::rays {
namespace {

/// c[0] + c[1] t + c[2] t^2 + c[3] t^3.
using Cubic = std::array<double, 4>;

double value_of(const Cubic& c, double t) {
  return c[0] + t * (c[1] + t * (c[2] + t * c[3]));
}

/// Without its root at `root`: the quotient of p(t) - p(root) and t - root.
Cubic without_root(const Cubic& c, double root) {
  const double third = c[3];
  const double second = c[2] + root * third;
  return {c[1] + root * second, second, third, 0.0};
}

/// Where 0 < t < 1 the cubic's slope turns its sign, in order; 0 where there is none.
std::array<double, 2> turns_of(const Cubic& c) {
  const double a = 3.0 * c[3];
  const double half = c[2];
  const double inner = half * half - a * c[1];
  if (!(inner > 0.0)) return {};
  // The root without cancellation, and the other one from their product.
  const double sum = -(half + std::copysign(std::sqrt(inner), half));
  std::array<double, 2> turns{a != 0.0 ? sum / a : 0.0, sum != 0.0 ? c[1] / sum : 0.0};
  for (double& t : turns) t = t > 0.0 && t < 1.0 ? t : 0.0;
  if (turns[0] > turns[1]) std::swap(turns[0], turns[1]);
  return turns;
}

/// The root between `low` and `high`, where the cubic is of different signs.
double root_between(const Cubic& c, double low, double high) {
  const bool rises = value_of(c, high) > value_of(c, low);
  for (int step = 0; step < 60; ++step) {
    const double middle = 0.5 * (low + high);
    ((value_of(c, middle) < 0.0) == rises ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace

CurvePiece piece_of(const Segment& segment, double from, double to) {
  CurvePiece piece;
  const double step = to - from;
  if (segment.kind == SegmentKind::cubic) {
    piece.at = segment.point(from).at;
    piece.b = step * (segment.b + from * (2.0 * segment.c + (3.0 * from) * segment.d));
    piece.c = (step * step) * (segment.c + (3.0 * from) * segment.d);
    piece.d = (step * step * step) * segment.d;
    return piece;
  }
  // By w = tan(half of the angle): r = centre + R ((1 - w^2) out + 2 w along) / (1 + w^2), from `out`.
  const CurvePoint begin = segment.point(from);
  const double w = std::tan(0.5 * step * segment.turn);
  const Vector2 along = (2.0 * segment.radius / std::abs(segment.turn * segment.radius)) * begin.first;  // of length 2 R
  const double sign = segment.turn > 0.0 ? 1.0 : -1.0;
  const Vector2 in = (1.0 / (segment.turn * segment.turn)) * begin.second;  // of length R, to the centre
  piece.at = begin.at;
  piece.b = (sign * w) * along;
  piece.c = (2.0 * w * w) * in;
  piece.q = w * w;
  return piece;
}

CurvePoint point_of(const CurvePiece& piece, double t) {
  const double inverse = 1.0 / (1.0 + piece.q * t * t);
  const double turn = 2.0 * piece.q * t;
  const Vector2 way = (t * inverse) * (piece.b + t * (piece.c + t * piece.d));
  const Vector2 first = inverse * (piece.b + t * (2.0 * piece.c + (3.0 * t) * piece.d) - turn * way);
  const Vector2 second = inverse * (2.0 * piece.c + (6.0 * t) * piece.d - (2.0 * turn) * first - (2.0 * piece.q) * way);
  return {piece.at + way, first, second};
}

double nearest_place(const CurvePiece& piece, Vector2 from, double t) {
  // Half of the squared distance: its slope.
  const auto slope_at = [&](const CurvePoint& place) { return dot(place.at - from, place.first); };
  const bool falls = slope_at(point_of(piece, 0.0)) < 0.0;
  const CurvePoint end = point_of(piece, 1.0);
  const bool rises = slope_at(end) > 0.0;
  if (!falls && !rises) return length(from - end.at) < length(from - piece.at) ? 1.0 : 0.0;
  if (!falls || !rises) return falls ? 1.0 : 0.0;
  double low = 0.0;
  double high = 1.0;
  t = std::clamp(t, low, high);
  for (int step = 0; step < 60; ++step) {
    const CurvePoint place = point_of(piece, t);
    const double slope = slope_at(place);
    (slope < 0.0 ? low : high) = t;
    const double bend = dot(place.first, place.first) + dot(place.at - from, place.second);
    const double newton = -slope / bend;
    // Pieces are at most metres long: this is below a nanometre, and squared below all rounding.
    if (bend > 0.0 && std::abs(newton) < 1e-9) return std::clamp(t + newton, 0.0, 1.0);
    const bool within = bend > 0.0 && t + newton > low && t + newton < high;
    t = within ? t + newton : 0.5 * (low + high);
  }
  return t;
}

bool crosses_piece(const CurvePiece& piece, Vector2 last, const WayOverPiece& way) {
  const Vector2 along = way.to - way.from;
  const double squared = dot(along, along);
  const double limit = 1e-9 / std::max(std::sqrt(squared), 1e-300);
  // The side of the way on which the curve is at t, times 1 + q t^2.
  const double side = cross(along, piece.at - way.from);
  Cubic sides{side, cross(along, piece.b), cross(along, piece.c) + piece.q * side, cross(along, piece.d)};
  bool whole = true;
  for (const double end : {way.from_t, way.to_t}) {
    if (std::isnan(end)) continue;
    sides = without_root(sides, end);
    whole = false;
  }
  const std::array<double, 2> turns = turns_of(sides);
  double before = 0.0;
  bool above = sides[0] < 0.0;
  for (const double t : {turns[0], turns[1], 1.0}) {
    if (!(t > before)) continue;
    const bool now = whole && t == 1.0 ? cross(along, last - way.from) < 0.0 : value_of(sides, t) < 0.0;
    if (now != above) {
      const Vector2 at = point_of(piece, root_between(sides, before, t)).at;
      const double part = dot(at - way.from, along) / squared;
      if (part > limit && part < 1.0 - limit) return true;
    }
    above = now;
    before = t;
  }
  return false;
}

}  // namespace echoform::rays
