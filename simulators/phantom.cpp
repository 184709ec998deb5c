#include "simulators/phantom.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "base/errors.hpp"
#include "simulators/body_shape.hpp"

namespace echoform {
namespace {

constexpr unsigned turns_limit = 1000;
constexpr double reflectivity_limit = 1e6;
constexpr double body_limit = 10.0;  // metres, the limit of grids

Point moved(const Point& centre, const Motion& motion, double phase) {
  const Point by = motion.displacement(phase);
  return {centre.x + by.x, centre.y + by.y, centre.z + by.z};
}

bool finite(const Point& point) {
  return std::isfinite(point.x.value) && std::isfinite(point.y.value) && std::isfinite(point.z.value);
}

void validate_reflectivity(std::string_view place, double reflectivity) {
  if (!(std::abs(reflectivity) <= reflectivity_limit)) {
    throw InputError(place, fmt::format("reflectivity {}", reflectivity), fmt::format("-{0:g} to {0:g}", reflectivity_limit));
  }
}

void validate_reflector(std::string_view place, const Point& centre, Metres radius, double reflectivity, const Motion& motion,
                        PhantomRoom room) {
  if (!finite(centre) || !finite(motion.extent) || !std::isfinite(motion.offset)) {
    throw InputError(place, "a number that is not finite", "a finite centre and motion");
  }
  validate_reflectivity(place, reflectivity);
  if (motion.turns == 0 || motion.turns > turns_limit) {
    throw InputError(place, fmt::format("{} turns a cycle", motion.turns), fmt::format("1 to {}", turns_limit));
  }
  const double reach = motion.kind == MotionKind::still ? 0.0 : std::abs(motion.extent.z.value);
  const double top = centre.z.value - reach - radius.value;
  if (room == PhantomRoom::below_zero && !(top > 0.0)) {
    throw InputError(place, fmt::format("a top at z = {:.3f} mm", 1e3 * top),
                     "a reflector inside the part, z > 0, throughout its motion");
  }
}

void validate_body(const Body& body, std::string_view place, PhantomRoom room) {
  const auto size = [&](std::string_view name, Metres metres) {
    if (metres.value > 0.0 && metres.value <= body_limit) return;
    throw InputError(place, fmt::format("{} {} m", name, metres.value),
                     fmt::format("a positive {}, up to {} m", name, body_limit));
  };
  if (body.kind != BodyKind::plate) size("radius", body.radius);
  if (body.kind == BodyKind::plate || body.kind == BodyKind::cylinder) size("length", body.length);
  if (body.kind == BodyKind::plate) size("height", body.height);
  if (!(std::abs(body.turn) <= 360.0) || !(std::abs(body.dip) <= 90.0)) {
    throw InputError(place, fmt::format("turn {} and dip {}", body.turn, body.dip), "-360 to 360 and -90 to 90 degrees");
  }
  validate_reflector(place, body.centre, Metres(0.0), body.reflectivity, {}, PhantomRoom::anywhere);
  for (const simulated::BodyExtent& extent : simulated::extents_of(body)) {
    if (room == PhantomRoom::anywhere || extent.at.z - extent.radius > 0.0) continue;
    throw InputError(place, fmt::format("a top at z = {:.3f} mm", 1e3 * (extent.at.z - extent.radius)),
                     "a reflector inside the part, z > 0");
  }
}

/// Fractional part of seed * ratio, from a Weyl sequence in 64-bit integers, which is exact for every seed.
double weyl(std::uint64_t seed, std::uint64_t ratio) {
  return static_cast<double>((seed * ratio) >> 11) * 0x1.0p-53;
}

Point mm(double x, double z) {
  return {Metres(1e-3 * x), Metres(0.0), Metres(1e-3 * z)};
}

}  // namespace

Point Motion::displacement(double phase) const {
  if (kind == MotionKind::still) return {};
  const double periods = static_cast<double>(turns) * phase + offset;
  const double part = periods - std::floor(periods);
  const double angle = 2.0 * std::numbers::pi * part;
  switch (kind) {
    case MotionKind::still:
      break;
    case MotionKind::linear: {
      // 0 at the start, 1 after a quarter, -1 after three quarters: begins where the sine begins.
      const double triangle = part < 0.25 ? 4.0 * part : part < 0.75 ? 2.0 - 4.0 * part : 4.0 * part - 4.0;
      return {extent.x * triangle, extent.y * triangle, extent.z * triangle};
    }
    case MotionKind::oscillating:
      return {extent.x * std::sin(angle), extent.y * std::sin(angle), extent.z * std::sin(angle)};
    case MotionKind::circular:
      return {extent.x * std::cos(angle), Metres(0.0), extent.z * std::sin(angle)};
  }
  return {};
}

bool Phantom::moving() const {
  for (const auto& point : points) {
    if (point.motion.kind != MotionKind::still) return true;
  }
  for (const auto& hole : holes) {
    if (hole.motion.kind != MotionKind::still) return true;
  }
  return false;
}

std::vector<TruePosition> true_positions(const Phantom& phantom, double phase) {
  std::vector<TruePosition> all;
  all.reserve(phantom.reflectors());
  for (const auto& point : phantom.points) {
    const Point centre = moved(point.centre, point.motion, phase);
    all.push_back({point.name, ReflectorKind::point, centre, centre, point.motion.kind != MotionKind::still});
  }
  for (const auto& hole : phantom.holes) {
    const Point centre = moved(hole.centre, hole.motion, phase);
    // The hole lies along y, so its surface faces the origin within the x-z plane.
    const double scale = 1.0 - hole.radius.value / std::hypot(centre.x.value, centre.z.value);
    all.push_back({hole.name,
                   ReflectorKind::hole,
                   centre,
                   {centre.x * scale, centre.y, centre.z * scale},
                   hole.motion.kind != MotionKind::still});
  }
  for (const auto& wall : phantom.backwalls) {
    const Point centre{Metres(0.0), Metres(0.0), wall.depth};
    all.push_back({wall.name, ReflectorKind::backwall, centre, centre, false});
  }
  for (const auto& body : phantom.bodies) {
    const Point& centre = body.centre;
    const double far = std::hypot(centre.x.value, centre.y.value, centre.z.value);
    const double scale = body.kind == BodyKind::sphere && far > 0.0 ? 1.0 - body.radius.value / far : 1.0;
    all.push_back({body.name, ReflectorKind::body, centre, {centre.x * scale, centre.y * scale, centre.z * scale}, false});
  }
  return all;
}

void validate(const Phantom& phantom, std::string_view where, PhantomRoom room) {
  for (const auto& point : phantom.points) {
    validate_reflector(fmt::format("{} scatterer \"{}\"", where, point.name), point.centre, Metres(0.0), point.reflectivity,
                       point.motion, room);
  }
  for (const auto& hole : phantom.holes) {
    const std::string place = fmt::format("{} hole \"{}\"", where, hole.name);
    if (!std::isfinite(hole.radius.value) || hole.radius.value <= 0.0) {
      throw InputError(place, fmt::format("radius {} m", hole.radius.value), "a positive radius");
    }
    validate_reflector(place, hole.centre, hole.radius, hole.reflectivity, hole.motion, room);
  }
  for (const auto& wall : phantom.backwalls) {
    const std::string place = fmt::format("{} backwall \"{}\"", where, wall.name);
    if (!std::isfinite(wall.depth.value) || wall.depth.value <= 0.0) {
      throw InputError(place, fmt::format("depth {} m", wall.depth.value), "a positive depth");
    }
    validate_reflectivity(place, wall.reflectivity);
    if (!(wall.x_first < wall.x_last)) {
      throw InputError(place, fmt::format("x from {} to {} m", wall.x_first.value, wall.x_last.value), "x_first < x_last");
    }
  }
  for (const auto& body : phantom.bodies) validate_body(body, fmt::format("{} reflector \"{}\"", where, body.name), room);
}

Phantom default_phantom(std::uint64_t seed) {
  // The plastic-number sequence of two dimensions: neighbours in the sequence lie far apart in the box. 1 / 1.3247... and
  // its square, times 2^64.
  constexpr std::uint64_t ratio_x = 0xC13FA9A902A6328FULL;
  constexpr std::uint64_t ratio_z = 0x91E10DA5C79E7B1DULL;
  const Motion round{MotionKind::circular, mm(2.5, 2.5), 1, 0.0};
  const Motion to_and_fro{MotionKind::oscillating, mm(2.5, 0.0), 1, 0.0};

  Phantom phantom;
  phantom.points = {
      {"shallow", mm(0.0, 10.0), 0.35, {}},
      {"deep", mm(-13.0, 28.0), 1.0, {}},
      {"seeded", mm(-4.5 + 9.0 * weyl(seed, ratio_x), 18.5 + 4.0 * weyl(seed, ratio_z)), 0.5, {}},
      {"circling", mm(-9.0, 15.0), 0.5, round},
      {"oscillating", mm(10.5, 25.0), 0.8, to_and_fro},
  };
  phantom.holes = {
      {"hole of 1.5 mm", mm(5.5, 14.0), Metres(0.75e-3), -0.45, {}},
      {"hole of 1 mm", mm(-4.0, 28.0), Metres(0.5e-3), -0.7, {}},
  };
  phantom.backwalls = {{"backwall", Metres(36.0e-3), 0.6}};
  return phantom;
}

}  // namespace echoform
