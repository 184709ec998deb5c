// Curves in the plane of x and z, as surfaces are made of: lines, arcs of circles and cubics, each over 0 <= t <= 1.
// For host and device.
#pragma once

#include <cmath>
#include <cstdint>

#include "gpu/host_device.hpp"

namespace echoform {

/// Metres.
struct Vector2 {
  double x = 0.0;
  double z = 0.0;

  constexpr auto operator<=>(const Vector2&) const = default;
};

ECHOFORM_HOST_DEVICE constexpr Vector2 operator+(Vector2 a, Vector2 b) {
  return {a.x + b.x, a.z + b.z};
}
ECHOFORM_HOST_DEVICE constexpr Vector2 operator-(Vector2 a, Vector2 b) {
  return {a.x - b.x, a.z - b.z};
}
ECHOFORM_HOST_DEVICE constexpr Vector2 operator*(double k, Vector2 a) {
  return {k * a.x, k * a.z};
}
ECHOFORM_HOST_DEVICE constexpr double dot(Vector2 a, Vector2 b) {
  return a.x * b.x + a.z * b.z;
}
/// Positive if b lies clockwise of a as seen on the screen, with z downwards: into the part for a curve along x.
ECHOFORM_HOST_DEVICE constexpr double cross(Vector2 a, Vector2 b) {
  return a.x * b.z - a.z * b.x;
}
ECHOFORM_HOST_DEVICE double length(Vector2 a) {
  return std::sqrt(dot(a, a));
}

/// A place of a curve with its derivatives by t.
struct CurvePoint {
  Vector2 at;
  Vector2 first;
  Vector2 second;
};

enum class SegmentKind : std::uint8_t { cubic, arc };

/// cubic  at(t) = a + t (b + t (c + t d)): a line with c = d = 0.
/// arc    at(t) = a + radius * (cos, sin)(from + t * turn), reckoned from its first place b, so that arcs of huge circles lose
///        nothing.
struct Segment {
  SegmentKind kind = SegmentKind::cubic;
  Vector2 a;
  Vector2 b;
  Vector2 c;
  Vector2 d;
  double radius = 0.0;  ///< more than 0
  double from = 0.0;    ///< radians, from x towards z
  double turn = 0.0;    ///< radians; more than 0 from x towards z

  [[nodiscard]] ECHOFORM_HOST_DEVICE CurvePoint point(double t) const {
    if (kind == SegmentKind::arc) {
      const double angle = from + t * turn;
      const double half = 0.5 * t * turn;
      const double chord = 2.0 * radius * std::sin(half);
      const Vector2 out{radius * std::cos(angle), radius * std::sin(angle)};
      return {b + Vector2{-chord * std::sin(from + half), chord * std::cos(from + half)},
              {-turn * out.z, turn * out.x},
              (-turn * turn) * out};
    }
    return {a + t * (b + t * (c + t * d)), b + t * (2.0 * c + (3.0 * t) * d), 2.0 * c + (6.0 * t) * d};
  }

  [[nodiscard]] constexpr bool straight() const { return kind == SegmentKind::cubic && c == Vector2{} && d == Vector2{}; }
};

[[nodiscard]] constexpr Segment line_segment(Vector2 from, Vector2 to) {
  Segment segment;
  segment.a = from;
  segment.b = to - from;
  return segment;
}

/// The arc that begins at angle `from` and extends by the angle `turn`, in radians, counted from x towards z.
[[nodiscard]] inline Segment arc_segment(Vector2 centre, double radius, double from, double turn) {
  Segment segment;
  segment.kind = SegmentKind::arc;
  segment.a = centre;
  segment.b = centre + Vector2{radius * std::cos(from), radius * std::sin(from)};
  segment.radius = radius;
  segment.from = from;
  segment.turn = turn;
  return segment;
}

/// The cubic through both ends with the given derivatives by t (Hermite).
[[nodiscard]] constexpr Segment cubic_segment(Vector2 from, Vector2 from_slope, Vector2 to, Vector2 to_slope) {
  Segment segment;
  segment.a = from;
  segment.b = from_slope;
  segment.c = 3.0 * (to - from) - 2.0 * from_slope - to_slope;
  segment.d = 2.0 * (from - to) + from_slope + to_slope;
  return segment;
}

}  // namespace echoform
