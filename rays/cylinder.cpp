// A cylinder along y or along an axis of its own: a rod or the outer wall of a pipe, seen from outside, or a bore, seen from
// inside.
#include <numbers>

#include "rays/drawn_surface.hpp"
#include "rays/surface_kind.hpp"

namespace echoform {
namespace {

/// The cylinder lies over its crown along x, so that the part lies below a front surface.
Surface half_cylinder(const SurfaceDescription& d, Vector2 crown) {
  constexpr double pi = std::numbers::pi;
  const double radius = d.numbers.at("radius");
  if (side_of(d)) return Surface(d.where, {arc_segment(crown - Vector2{0.0, radius}, radius, pi, -pi)});
  return Surface(d.where, {arc_segment(crown + Vector2{0.0, radius}, radius, -pi, pi)});
}

}  // namespace

SurfaceKind cylinder_kind() {
  SurfaceKind kind;
  kind.name = "cylinder";
  kind.meaning = "A cylinder along y or any axis, by the half that faces the probe.";
  kind.parameters = {
      {"radius", "m", "Radius of the cylinder.", 1e-4, 100.0},
      {"x", "m", "Where its crown lies along x: the place that is nearest to the probe, or farthest in a bore.", -10.0, 10.0,
       0.0},
      {"z", "m", "Depth of its crown.", -10.0, 10.0, 0.0},
      {"y", "m", "Where along y its crown is that deep and lies there along x, of an axis that is not along y.", -10.0, 10.0,
       0.0},
      {"turn", "degrees", "How far its axis is turned about z, from y towards x.", -180.0, 180.0, 0.0},
      {"dip", "degrees", "How steeply its axis goes down, towards greater y where it is not turned.", -80.0, 80.0, 0.0},
      {"side",
       "",
       "\"outside\": convex towards the probe (a rod, a pipe). \"inside\": concave (a bore, or the far "
       "wall of a rod).",
       0.0,
       0.0,
       {},
       true}};
  kind.make = [](const SurfaceDescription& d) { return half_cylinder(d, {d.numbers.at("x"), d.numbers.at("z")}); };
  kind.make_spatial = [](const SurfaceDescription& d) -> std::shared_ptr<const SpatialSurface> {
    const double turn = d.numbers.at("turn");
    const double dip = d.numbers.at("dip");
    if (turn == 0.0 && dip == 0.0) return nullptr;
    constexpr double degree = std::numbers::pi / 180.0;
    const Vector3 crown{d.numbers.at("x"), d.numbers.at("y"), d.numbers.at("z")};
    return std::make_shared<const DrawnSurface>(d.where, half_cylinder(d, {}),
                                                SurfaceAxes::along(crown, axis_direction(turn * degree, dip * degree)));
  };
  return kind;
}

}  // namespace echoform
