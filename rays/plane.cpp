// A plane at any tilt: its depth is z + x tan(angle) + y tan(angle_across).
#include <cmath>
#include <numbers>

#include "rays/drawn_surface.hpp"
#include "rays/surface_kind.hpp"

namespace echoform {

SurfaceKind plane_kind() {
  SurfaceKind kind;
  kind.name = "plane";
  kind.meaning = "A plane.";
  kind.parameters = {{"z", "m", "Depth of the plane at x = 0.", -10.0, 10.0, 0.0},
                     {"angle", "degrees", "Tilt: how much deeper it becomes along x.", -80.0, 80.0, 0.0},
                     {"angle_across", "degrees", "Tilt across: how much deeper it becomes along y.", -80.0, 80.0, 0.0}};
  kind.make = [](const SurfaceDescription& d) {
    const double angle = d.numbers.at("angle") * std::numbers::pi / 180.0;
    const Vector2 middle{0.0, d.numbers.at("z")};
    const Vector2 half = d.reach.value / std::cos(angle) * Vector2{std::cos(angle), std::sin(angle)};
    return Surface(d.where, {line_segment(middle - half, middle + half)});
  };
  kind.make_spatial = [](const SurfaceDescription& d) -> std::shared_ptr<const SpatialSurface> {
    if (d.numbers.at("angle_across") == 0.0) return nullptr;
    const double along = std::tan(d.numbers.at("angle") * std::numbers::pi / 180.0);
    const double across = std::tan(d.numbers.at("angle_across") * std::numbers::pi / 180.0);
    const double depth = d.numbers.at("z");
    const SurfaceAxes axes = SurfaceAxes::along({0.0, 0.0, depth}, {0.0, 1.0, across});
    // With y along the direction in which the plane falls across, only a tilt along x remains.
    const double fall = along / std::sqrt(1.0 + across * across);
    const double half = 2.0 * (d.reach.value + std::abs(depth)) * (1.0 + std::abs(along) + std::abs(across));
    return std::make_shared<const DrawnSurface>(
        d.where, Surface(d.where, {line_segment({-half, -fall * half}, {half, fall * half})}), axes);
  };
  return kind;
}

}  // namespace echoform
