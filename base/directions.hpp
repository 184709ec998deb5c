// Sums and products of directions.
#pragma once

#include <cmath>

#include "base/geometry.hpp"

namespace echoform {

[[nodiscard]] inline double dot(const Direction& a, const Direction& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
[[nodiscard]] inline double length(const Direction& a) {
  return std::sqrt(dot(a, a));
}
[[nodiscard]] inline Direction scaled(const Direction& a, double by) {
  return {by * a.x, by * a.y, by * a.z};
}
[[nodiscard]] inline Direction cross(const Direction& a, const Direction& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
/// The unit vector along `a`, whose length is above 0.
[[nodiscard]] inline Direction unit(const Direction& a) {
  const double size = length(a);
  return {a.x / size, a.y / size, a.z / size};
}
/// The component of `a` perpendicular to `axis`, which has length 1.
[[nodiscard]] inline Direction across(const Direction& a, const Direction& axis) {
  const double along = dot(a, axis);
  return {a.x - along * axis.x, a.y - along * axis.y, a.z - along * axis.z};
}
/// The vector from `from` to `to`, in metres.
[[nodiscard]] inline Direction between(const Point& from, const Point& to) {
  return {(to.x - from.x).value, (to.y - from.y).value, (to.z - from.z).value};
}

}  // namespace echoform
