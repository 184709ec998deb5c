// A curve between two of its nodes, in one form for lines, arcs of circles and cubics: for host and device.
#pragma once

#include <limits>

#include "gpu/host_device.hpp"
#include "rays/curve.hpp"

namespace echoform::rays {

/// A piece of a curve between two nodes, 0 <= t <= 1: r(t) = at + t (b + t (c + t d)) / (1 + q t^2). It represents lines,
/// cubics and arcs of circles exactly.
struct CurvePiece {
  Vector2 at;
  Vector2 b;
  Vector2 c;
  Vector2 d;
  double q = 0.0;
};

/// The begin and the end of the segment that contains a piece, in t of the piece.
struct PieceReach {
  double low = 0.0;
  double high = 1.0;
};

/// Part of a segment.
[[nodiscard]] CurvePiece piece_of(const Segment& segment, double from, double to);

[[nodiscard]] CurvePoint point_of(const CurvePiece& piece, double t);

/// t of the place of the piece nearest to `from`, by a search that begins at `t`, if the distance has its minimum inside the
/// piece; else 0 or 1. For pieces that turn by less than a right angle.
[[nodiscard]] double nearest_place(const CurvePiece& piece, Vector2 from, double t);

/// Stands for t if an end of a path does not lie on a piece.
inline constexpr double not_on_piece = std::numeric_limits<double>::quiet_NaN();

/// The straight path from `from` to `to`, and t of those of its ends that are places of a piece.
struct WayOverPiece {
  Vector2 from;
  Vector2 to;
  double from_t = not_on_piece;
  double to_t = not_on_piece;
};

}  // namespace echoform::rays
