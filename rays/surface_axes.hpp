// Axes of a surface's own.
#pragma once

#include "base/vector3.hpp"

namespace echoform {

/// Right-handed and of length 1; the curve lies in the plane of x and z and is drawn out along y.
struct SurfaceAxes {
  Vector3 origin;
  Vector3 x{1.0, 0.0, 0.0};
  Vector3 y{0.0, 1.0, 0.0};
  Vector3 z{0.0, 0.0, 1.0};

  constexpr bool operator==(const SurfaceAxes&) const = default;

  /// Axes with y along `axis` and z as near to the global z as that allows. `axis` is neither 0 nor along z.
  [[nodiscard]] static SurfaceAxes along(Vector3 origin, Vector3 axis);

  [[nodiscard]] Vector3 into(Vector3 place) const {
    const Vector3 from = place - origin;
    return {dot(from, x), dot(from, y), dot(from, z)};
  }
};

}  // namespace echoform
