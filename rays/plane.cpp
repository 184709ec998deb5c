// A plane at any tilt.
#include <cmath>
#include <numbers>

#include "rays/surface_kind.hpp"

namespace echoform {

SurfaceKind plane_kind() {
  SurfaceKind kind;
  kind.name = "plane";
  kind.meaning = "A plane.";
  kind.parameters = {{"z", "m", "Depth of the plane at x = 0.", -10.0, 10.0, 0.0},
                     {"angle", "degrees", "Tilt: how much deeper it becomes along x.", -80.0, 80.0, 0.0}};
  kind.make = [](const SurfaceDescription& d) {
    const double angle = d.numbers.at("angle") * std::numbers::pi / 180.0;
    const Vector2 middle{0.0, d.numbers.at("z")};
    const Vector2 half = d.reach.value / std::cos(angle) * Vector2{std::cos(angle), std::sin(angle)};
    return Surface(d.where, {line_segment(middle - half, middle + half)});
  };
  return kind;
}

}  // namespace echoform
