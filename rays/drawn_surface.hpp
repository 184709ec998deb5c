// A curve that is extruded along any axis: planes that are tilted across, cylinders whose axis is not y.
#pragma once

#include <memory>
#include <string>

#include "rays/spatial_surface.hpp"
#include "rays/surface.hpp"
#include "rays/surface_axes.hpp"

namespace echoform {

/// The axis that descends by `dip` radians and is turned by `turn` radians about z, from y towards x. Of length 1.
[[nodiscard]] Vector3 axis_direction(double turn, double dip);

class DrawnSurface final : public SpatialSurface {
 public:
  /// `curve` in `axes`, with the sides that it has there.
  DrawnSurface(std::string name, Surface curve, const SurfaceAxes& axes);

  [[nodiscard]] double signed_distance(Vector3 from) const override;
  [[nodiscard]] SpatialFoot foot(Vector3 from) const override;
  [[nodiscard]] bool shadows() const override { return curve_->shadows(); }
  /// Seen along the axes the rays are those of the curve: its own field finds them.
  [[nodiscard]] std::unique_ptr<RayField> field(const RayPath& path, std::vector<Point> sources, SimdLevel level) const override;

 private:
  std::shared_ptr<const Surface> curve_;
  SurfaceAxes axes_;
};

}  // namespace echoform
