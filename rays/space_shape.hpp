// A surface of either kind as places in space know it, and places all over it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/vector3.hpp"
#include "rays/ray_path.hpp"
#include "rays/spatial_surface.hpp"

namespace echoform::rays {

class SpaceShape {
 public:
  explicit SpaceShape(const RayInterface& interface)
      : curve_(interface.spatial == nullptr ? interface.surface.get() : nullptr), spatial_(interface.spatial.get()) {}

  bool operator==(const SpaceShape&) const = default;

  /// m; positive below a front surface.
  [[nodiscard]] double distance(Vector3 from) const;
  [[nodiscard]] SpatialFoot foot(Vector3 from) const;
  /// Whether a straight line can meet it more than twice, as far as that is known.
  [[nodiscard]] bool shadows() const;
  /// Null where it is not made of triangles.
  [[nodiscard]] const TriangleMesh* mesh() const { return spatial_ != nullptr ? spatial_->mesh() : nullptr; }

 private:
  const Surface* curve_;
  const SpatialSurface* spatial_;
};

/// Axes along x, y and z; metres.
struct SpaceBox {
  Vector3 low;
  Vector3 high;

  bool operator==(const SpaceBox&) const = default;
  void hold(Vector3 at);
};

/// Feet of the middles of all cells of a lattice that the shape goes through, within a box.
struct ShapePlaces {
  std::vector<Vector3> at;
  /// The neighbours of each place: places in cells that touch its own, if the surface turns by less than 60 degrees in
  /// between.
  std::vector<std::vector<std::uint32_t>> neighbours;
};

/// Cells are cubes of `size` metres whose corners are whole multiples of it.
[[nodiscard]] ShapePlaces places_on(const SpaceShape& shape, const SpaceBox& box, double size);

}  // namespace echoform::rays
