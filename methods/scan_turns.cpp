#include "methods/scan_turns.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <string_view>
#include <utility>

#include "methods/scan_settings.hpp"

namespace echoform {
namespace {

constexpr double quarter = 0.5 * std::numbers::pi;
/// Axes that differ by less than this count as one.
constexpr double one_axis = 1e-6;

bool along_y(const ScanSection& scan) {
  const auto& axis = scan.axis;
  return std::abs(axis[0]) <= 1e-9 * std::abs(axis[1]) && std::abs(axis[2]) <= 1e-9 * std::abs(axis[1]);
}

/// Whether the surface is rotationally symmetric about the path's axis.
bool round_about(const SurfaceSection& surface, const ScanSection& scan) {
  if (surface.kind.empty()) return true;
  const auto number = [&](std::string_view name) {
    const auto found = surface.numbers.find(name);
    return found == surface.numbers.end() ? 0.0 : found->second;
  };
  if (surface.kind != "sphere" && (surface.kind != "cylinder" || number("turn") != 0.0 || number("dip") != 0.0)) return false;
  const auto side = surface.words.find("side");
  const bool inside = side != surface.words.end() && side->second == "inside";
  const double depth = number("z") + (inside ? -1.0 : 1.0) * number("radius");
  return std::hypot(number("x") - scan.centre[0].value, depth - scan.centre[2].value) <= one_axis;
}

/// +1 or -1, the direction of the axis along y.
double sense_of(const RigidMotion& motion) {
  return motion.axis.y < 0.0 ? -1.0 : 1.0;
}

/// The quarter revolutions as a rotation about +y, 0 to 3.
int quarters_about_y(const RigidMotion& motion, int quarters) {
  return motion.axis.y < 0.0 ? (4 - quarters) % 4 : quarters;
}

struct Turned {
  double x;
  double z;
};

/// A place relative to the axis, rotated about +y by -quarters. A rotation about y by t has x' = x cos t + z sin t, z' = z cos t
/// - x sin t.
Turned turn(double x, double z, int quarters) {
  switch (quarters) {
    case 1:
      return {-z, x};
    case 2:
      return {-x, -z};
    case 3:
      return {z, -x};
    default:
      return {x, z};
  }
}

}  // namespace

bool turns_around(const ImagingSettings& settings) {
  const ScanSection& scan = section<ScanSection>(settings);
  return scan.path == ScanPath::circle && along_y(scan) && round_about(settings.surface, scan) &&
         round_about(settings.backwall, scan);
}

bool source_turns(const ImagingSettings& settings, const SimulatorConfiguration& source) {
  return turns_around(settings) && source.phantom.backwalls.empty() && source.phantom.bodies.empty() && source.tissue.empty();
}

int quarters_of(double angle) {
  const auto nearest = std::llround(std::remainder(angle, 4.0 * quarter) / quarter);
  return static_cast<int>((nearest + 4) % 4);
}

RigidMotion turned_back(RigidMotion motion, int quarters) {
  if (quarters != 0) motion.angle = std::remainder(motion.angle - quarter * quarters, 4.0 * quarter);
  return motion;
}

Point turned_back(const Point& place, const RigidMotion& motion, int quarters) {
  if (quarters == 0) return place;
  const Turned at = turn((place.x - motion.pivot.x).value, (place.z - motion.pivot.z).value, quarters_about_y(motion, quarters));
  return {motion.pivot.x + Metres(at.x), place.y, motion.pivot.z + Metres(at.z)};
}

TurnedGrid turned_back(const Grid& whole, const GridPart& part, const RigidMotion& motion, int quarters) {
  const auto of = [&](const Axis& axis, std::size_t a) {
    return Axis{axis.at(part.first[a]), axis.at(part.first[a] + part.count[a] - 1), part.count[a]};
  };
  TurnedGrid turned;
  turned.grid.x = of(whole.x, 0);
  turned.grid.y = of(whole.y, 1);
  turned.grid.z = of(whole.z, 2);
  const auto x_step = std::ptrdiff_t{1};
  const auto y_step = static_cast<std::ptrdiff_t>(whole.x.count);
  const auto z_step = y_step * static_cast<std::ptrdiff_t>(whole.y.count);
  const auto pixel = [&](std::size_t x, std::size_t z) {
    return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(z) * z_step +
                                    static_cast<std::ptrdiff_t>(part.first[1]) * y_step + static_cast<std::ptrdiff_t>(x));
  };
  const std::size_t x0 = part.first[0];
  const std::size_t z0 = part.first[2];
  const std::size_t x1 = x0 + part.count[0] - 1;
  const std::size_t z1 = z0 + part.count[2] - 1;
  turned.places = {pixel(x0, z0), x_step, y_step, z_step};
  const int about_y = quarters_about_y(motion, quarters);
  if (about_y == 0) return turned;
  const Grid still = turned.grid;
  const auto axis = [](Metres one, Metres other, std::size_t count) {
    return Axis{std::min(one, other), std::max(one, other), count};
  };
  const auto corner = [&](const Metres& x, const Metres& z) { return turned_back(Point{x, Metres(0.0), z}, motion, quarters); };
  const Point first = corner(still.x.first, still.z.first);
  const Point last = corner(still.x.last, still.z.last);
  const bool swapped = about_y != 2;
  turned.grid.x = axis(first.x, last.x, swapped ? still.z.count : still.x.count);
  turned.grid.z = axis(first.z, last.z, swapped ? still.x.count : still.z.count);
  // The first pixel is the one with the smallest rotated x and z.
  if (about_y == 1) turned.places = {pixel(x0, z1), -z_step, y_step, x_step};
  if (about_y == 2) turned.places = {pixel(x1, z1), -x_step, y_step, -z_step};
  if (about_y == 3) turned.places = {pixel(x1, z0), z_step, y_step, -x_step};
  return turned;
}

Phantom turned_back(Phantom part, const RigidMotion& motion, int quarters) {
  for (PointScatterer& point : part.points) point.centre = turned_back(point.centre, motion, quarters);
  for (SideDrilledHole& hole : part.holes) hole.centre = turned_back(hole.centre, motion, quarters);
  return part;
}

Phantom folded(Phantom part, const RigidMotion& motion, const Point& home) {
  // The angle about +y, measured from -z: a rotation by t takes -z to -sin t along x and -cos t along z.
  const auto about_y = [&](const Point& place) {
    return std::atan2((motion.pivot.x - place.x).value, (motion.pivot.z - place.z).value);
  };
  const double from = about_y(home);
  const auto fold = [&](const Point& place) {
    return turned_back(place, motion, quarters_of(sense_of(motion) * (about_y(place) - from)));
  };
  for (PointScatterer& point : part.points) point.centre = fold(point.centre);
  for (SideDrilledHole& hole : part.holes) hole.centre = fold(hole.centre);
  return part;
}

}  // namespace echoform
