// Places and ways in space, as surfaces in three dimensions want them.
#pragma once

#include <cmath>

#include "base/geometry.hpp"

namespace echoform {

/// Metres.
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
constexpr double dot(Vector3 a, Vector3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
constexpr Vector3 cross(Vector3 a, Vector3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline double length(Vector3 a) {
  return std::sqrt(dot(a, a));
}
/// `a` must not be 0.
inline Vector3 unit_of(Vector3 a) {
  return (1.0 / length(a)) * a;
}

constexpr Vector3 vector_of(const Point& point) {
  return {point.x.value, point.y.value, point.z.value};
}
constexpr Point point_of(Vector3 at) {
  return {Metres(at.x), Metres(at.y), Metres(at.z)};
}

}  // namespace echoform
