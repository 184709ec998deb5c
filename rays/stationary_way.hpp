// A way over places on several surfaces in space whose time is least: Newton's method over all places at once.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "base/vector3.hpp"
#include "rays/ray_path.hpp"
#include "rays/space_shape.hpp"

namespace echoform::rays {

struct SpaceWay {
  double time = 0.0;  ///< s
  std::array<SpatialFoot, most_interfaces> places{};
};

/// From places near it, one a shape (1 to most_interfaces), to the way from `from` to `to` whose time is stationary and grows to
/// all sides; `slowness` in s/m, one more than shapes. No step is longer than `farthest` metres. Nothing where the search ends at
/// an edge or a corner, but for those of triangles that stand for what is round (TriangleMesh::sharp_turn), or does not come to
/// rest. Places are good to 1e-9 m, times to the square of that over the legs.
[[nodiscard]] std::optional<SpaceWay> stationary_way(Vector3 from, Vector3 to, std::span<const SpaceShape> shapes,
                                                     std::span<const double> slowness, std::span<const Vector3> near,
                                                     double farthest);

}  // namespace echoform::rays
