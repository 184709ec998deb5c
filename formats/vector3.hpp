// Places and directions as files state them.
#pragma once

#include <cmath>

namespace echoform::formats {

struct Vector3 {
  double x = 0.0;
  double y = 0.0;
  double z = 0.0;
};

[[nodiscard]] inline double dot(const Vector3& a, const Vector3& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
[[nodiscard]] inline double length_of(const Vector3& a) {
  return std::sqrt(dot(a, a));
}
[[nodiscard]] inline Vector3 scaled(const Vector3& a, double factor) {
  return {a.x * factor, a.y * factor, a.z * factor};
}
[[nodiscard]] inline Vector3 sum(const Vector3& a, const Vector3& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
[[nodiscard]] inline Vector3 cross(const Vector3& a, const Vector3& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

}  // namespace echoform::formats
