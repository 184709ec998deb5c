// The way over places on several surfaces in space whose time is minimal, by Newton's method over all places at once.
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

/// Finds the way from `from` to `to` whose time is stationary and grows to all sides. The search begins at `near`, one place
/// on each shape (1 to most_interfaces), and no step is longer than `farthest` metres. `slowness` is in s/m, one value more
/// than shapes. The result is empty if the search does not converge or ends at an edge or a corner, except for those of
/// triangles that approximate a round surface (TriangleMesh::sharp_turn). Places are accurate to 1e-9 m, times to the square
/// of that over the legs.
[[nodiscard]] std::optional<SpaceWay> stationary_way(Vector3 from, Vector3 to, std::span<const SpaceShape> shapes,
                                                     std::span<const double> slowness, std::span<const Vector3> near,
                                                     double farthest);

}  // namespace echoform::rays
