// Positions and displacements in space as plain numbers, for sums and products of them. A Point keeps its units coordinate
// by coordinate, and a default-constructed Direction (directions.hpp) points along z; neither suits such arithmetic.
#pragma once

#include <cmath>

#include "base/geometry.hpp"

namespace echoform {

/// A vector in metres. The results of unit_of() and vector_of() of a Direction have no unit.
struct Vector3 {
  double x = 0.0;
  double y = 0.0;
  double z = 0.0;

  constexpr auto operator<=>(const Vector3&) const = default;
};

constexpr Vector3 operator+(Vector3 a, Vector3 b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
constexpr Vector3 operator-(Vector3 a, Vector3 b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
constexpr Vector3 operator*(double k, Vector3 a) {
  return {k * a.x, k * a.y, k * a.z};
}
[[nodiscard]] constexpr double dot(Vector3 a, Vector3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
[[nodiscard]] constexpr Vector3 cross(Vector3 a, Vector3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
[[nodiscard]] inline double length(Vector3 a) {
  return std::sqrt(dot(a, a));
}
/// The unit vector along `a`, which must not be 0. It is computed with a reciprocal and may differ in the last bit from
/// unit() of a Direction.
[[nodiscard]] inline Vector3 unit_of(Vector3 a) {
  return (1.0 / length(a)) * a;
}

[[nodiscard]] constexpr Vector3 vector_of(const Point& point) {
  return {point.x.value, point.y.value, point.z.value};
}
[[nodiscard]] constexpr Vector3 vector_of(const Direction& direction) {
  return {direction.x, direction.y, direction.z};
}
[[nodiscard]] constexpr Point point_of(Vector3 at) {
  return {Metres(at.x), Metres(at.y), Metres(at.z)};
}
[[nodiscard]] constexpr Direction direction_of(Vector3 way) {
  return {way.x, way.y, way.z};
}

}  // namespace echoform
