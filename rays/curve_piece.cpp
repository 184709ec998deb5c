#include "rays/curve_piece.hpp"

#include <cmath>

#include "rays/piece_math.hpp"

namespace echoform::rays {

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
  // With w = tan(half of the angle from `out`): r = centre + R ((1 - w^2) out + 2 w along) / (1 + w^2).
  const CurvePoint begin = segment.point(from);
  const double w = std::tan(0.5 * step * segment.turn);
  const Vector2 along = (2.0 * segment.radius / std::abs(segment.turn * segment.radius)) * begin.first;  // length 2 R
  const double sign = segment.turn > 0.0 ? 1.0 : -1.0;
  const Vector2 in = (1.0 / (segment.turn * segment.turn)) * begin.second;  // length R, towards the centre
  piece.at = begin.at;
  piece.b = (sign * w) * along;
  piece.c = (2.0 * w * w) * in;
  piece.q = w * w;
  return piece;
}

CurvePoint point_of(const CurvePiece& piece, double t) {
  return place_of(piece, t);
}

double nearest_place(const CurvePiece& piece, Vector2 from, double t) {
  return nearest_on(piece, from, t);
}

}  // namespace echoform::rays
