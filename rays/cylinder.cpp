// A cylinder along y: a rod or the outer wall of a pipe, seen from outside, or a bore, seen from inside.
#include <fmt/format.h>

#include <numbers>

#include "base/errors.hpp"
#include "rays/surface_kind.hpp"

namespace echoform {

SurfaceKind cylinder_kind() {
  SurfaceKind kind;
  kind.name = "cylinder";
  kind.meaning = "A cylinder along y, by the half that faces the probe.";
  kind.parameters = {{"radius", "m", "Radius of the cylinder.", 1e-4, 100.0},
                     {"x", "m", "Where its crown lies along x: the place that is nearest to the probe, or farthest in a bore.",
                      -10.0, 10.0, 0.0},
                     {"z", "m", "Depth of its crown.", -10.0, 10.0, 0.0},
                     {"side",
                      "",
                      "\"outside\": convex towards the probe (a rod, a pipe). \"inside\": concave (a bore, or the far "
                      "wall of a rod).",
                      0.0,
                      0.0,
                      {},
                      true}};
  kind.make = [](const SurfaceDescription& d) {
    const auto stated = d.words.find("side");
    const std::string side = stated == d.words.end() ? "outside" : stated->second;
    if (side != "outside" && side != "inside") {
      throw InputError(fmt::format("{} side", d.where), fmt::format("\"{}\"", side), "\"outside\" or \"inside\"");
    }
    const double radius = d.numbers.at("radius");
    const Vector2 crown{d.numbers.at("x"), d.numbers.at("z")};
    constexpr double pi = std::numbers::pi;
    // Along x over the crown, so that the part lies below a front surface.
    if (side == "outside") return Surface(d.where, {arc_segment(crown + Vector2{0.0, radius}, radius, -pi, pi)});
    return Surface(d.where, {arc_segment(crown - Vector2{0.0, radius}, radius, pi, -pi)});
  };
  return kind;
}

}  // namespace echoform
