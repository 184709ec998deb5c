// A profile that is revolved about an axis: cones, tori, turned parts and bores.
//
// In the half plane through the axis the part is bounded by a curve over x, along the axis, and z: less than 0 and as large as
// the distance from the axis where the part lies around the axis, that distance itself where the part lies beyond it. So in
// either case the part lies below a curve that runs along x. The ends of the profile are closed by flat faces.
#pragma once

#include <memory>
#include <string>

#include "rays/spatial_surface.hpp"
#include "rays/surface.hpp"

namespace echoform {

/// Where the axis is, and how its half planes are counted from one.
struct RevolvedAxis {
  Vector3 origin;
  Vector3 along;  ///< of length 1
};

/// A place in coordinates of the axis.
struct AxisPlace {
  double along = 0.0;  ///< m
  double out = 0.0;    ///< m, from the axis
  Vector3 away;        ///< from the axis, `out` long
};

class RevolvedSurface final : public SpatialSurface {
 public:
  /// `meridian` as above, closed by faces: from the axis to the axis, or from far out to far out. `beyond`: the part lies beyond
  /// the profile.
  RevolvedSurface(std::string name, Surface meridian, const RevolvedAxis& axis, bool beyond);

  [[nodiscard]] double signed_distance(Vector3 from) const override;
  [[nodiscard]] SpatialFoot foot(Vector3 from) const override;
  [[nodiscard]] std::unique_ptr<RayField> field(const RayPath& path, std::vector<Point> sources, SimdLevel level) const override;

  [[nodiscard]] const Surface& meridian() const noexcept { return *meridian_; }
  [[nodiscard]] const RevolvedAxis& axis() const noexcept { return axis_; }
  [[nodiscard]] AxisPlace place_of(Vector3 at) const;
  /// The half plane's z divided by the distance from the axis: -1 or 1.
  [[nodiscard]] double down() const noexcept { return down_; }
  /// Whether the part is convex. If so, no path to a place that faces its side of the surface is in shadow.
  [[nodiscard]] bool convex() const noexcept { return convex_; }

 private:
  std::shared_ptr<const Surface> meridian_;
  RevolvedAxis axis_;
  double down_;
  bool convex_;
};

}  // namespace echoform
