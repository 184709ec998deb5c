// A profile from a file, revolved about an axis.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "rays/drawn_surface.hpp"
#include "rays/profile.hpp"
#include "rays/revolved_surface.hpp"
#include "rays/surface_kind.hpp"

namespace echoform {
namespace {

/// A profile's end nearer to the axis than this lies on the axis.
constexpr double on_axis = 1e-9;  // m

std::shared_ptr<const SpatialSurface> make_revolved(const SurfaceDescription& d) {
  const auto file = d.words.find("file");
  if (file == d.words.end()) {
    throw InputError(
        fmt::format("{} file", d.where), "no value",
        "a file with lines of the place along the axis and the distance from it in m, which kind = \"revolved\" needs");
  }
  const std::string name = fmt::format("{} {}", d.where, file->second);
  std::vector<ProfilePoint> points = read_profile(file->second, d.where);
  const bool beyond = side_of(d);
  const double down = beyond ? 1.0 : -1.0;
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (points[k].at.z < 0.0) {
      throw InputError(fmt::format("{}, point {}", name, k), fmt::format("a distance of {:g} m from the axis", points[k].at.z),
                       "0 or more");
    }
    points[k].at.z *= down;
    points[k].radius *= -down;  // positive where the profile bulges away from the axis
  }
  const auto stated = d.words.find("interpolation");
  std::vector<Segment> segments = profile_segments(points, stated == d.words.end() ? "lines" : stated->second, name,
                                                   fmt::format("{} interpolation", d.where));
  const Vector2 first = points.front().at;
  const Vector2 last = points.back().at;
  // Flat faces close the profile: towards the axis, or far out.
  const double end = beyond ? 2.0 * d.reach.value + std::max(first.z, last.z) : 0.0;
  if (std::abs(end - first.z) > on_axis) segments.insert(segments.begin(), line_segment({first.x, end}, first));
  if (std::abs(end - last.z) > on_axis) segments.push_back(line_segment(last, {last.x, end}));
  Surface meridian(name, std::move(segments));
  for (const SurfaceNode& node : meridian.nodes()) {
    if (down * node.at.z >= -on_axis) continue;
    throw InputError(name, fmt::format("a curve {:.3g} mm beyond the axis", -1e3 * down * node.at.z), "one on one side of it");
  }
  constexpr double degree = std::numbers::pi / 180.0;
  const RevolvedAxis axis{{d.numbers.at("x"), d.numbers.at("y"), d.numbers.at("z")},
                          axis_direction(d.numbers.at("turn") * degree, d.numbers.at("dip") * degree)};
  return std::make_shared<const RevolvedSurface>(name, std::move(meridian), axis, beyond);
}

}  // namespace

SurfaceKind revolved_kind() {
  SurfaceKind kind;
  kind.name = "revolved";
  kind.meaning = "A profile from a CSV file, revolved about an axis and closed by flat faces.";
  kind.parameters = {
      {"x", "m", "Where the axis' zero lies along x.", -10.0, 10.0, 0.0},
      {"y", "m", "Where the axis' zero lies along y.", -10.0, 10.0, 0.0},
      {"z", "m", "Depth of the axis' zero.", -10.0, 10.0, 0.0},
      {"turn", "degrees", "How far the axis is turned about z, from y towards x.", -180.0, 180.0, 0.0},
      {"dip", "degrees", "How steeply the axis goes down: 90 along z, 0 along y where it is not turned.", -90.0, 90.0, 90.0},
      {"side",
       "",
       "\"outside\": the part lies around the axis (a turned part). \"inside\": beyond the profile (a bore).",
       0.0,
       0.0,
       {},
       true},
      {"file",
       "",
       "CSV file: place along the axis and distance from it in m a line, and a radius where an arc leads to the "
       "point (positive: it bulges away from the axis).",
       0.0,
       0.0,
       {},
       true,
       true},
      {"interpolation", "", "Between the points: \"lines\" (and arcs) or \"spline\".", 0.0, 0.0, {}, true}};
  kind.make_spatial = make_revolved;
  return kind;
}

}  // namespace echoform
