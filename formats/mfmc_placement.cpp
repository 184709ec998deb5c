#include "formats/mfmc_placement.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "base/errors.hpp"

namespace echoform::formats {
namespace {

/// A micrometre covers rounding in the file; a wavelength is hundreds.
constexpr double rounding = 1e-6;

/// Axes of length 1 at right angles.
struct Axes {
  Vector3 x;
  Vector3 y;
  Vector3 z;

  [[nodiscard]] Vector3 turned(const Vector3& v) const { return sum(sum(scaled(x, v.x), scaled(y, v.y)), scaled(z, v.z)); }
};

constexpr Vector3 into_the_part{0.0, 0.0, 1.0};

bool is_zero(const Vector3& v) {
  return v.x == 0.0 && v.y == 0.0 && v.z == 0.0;
}

/// A direction of length 0 is one that its writer did not fill in: then the probe's z points into the part.
Axes axes_of(const MfmcPlacement& placement, const std::string& where) {
  Vector3 x_direction = placement.x_direction;
  Vector3 y_direction = placement.y_direction;
  if (is_zero(x_direction)) x_direction = is_zero(y_direction) ? Vector3{1.0, 0.0, 0.0} : cross(y_direction, into_the_part);
  if (is_zero(y_direction)) y_direction = cross(into_the_part, x_direction);
  const double x_length = length_of(x_direction);
  if (!(x_length > 0.0)) throw InputError(where, "a PROBE_Y_DIRECTION along z, and no PROBE_X_DIRECTION", "two axes");
  const Vector3 x = scaled(x_direction, 1.0 / x_length);
  const Vector3 y_part = sum(y_direction, scaled(x, -dot(y_direction, x)));
  const double y_length = length_of(y_part);
  if (!(y_length > 1e-9 * length_of(y_direction)))
    throw InputError(where, "PROBE_X_DIRECTION and PROBE_Y_DIRECTION that are parallel", "two axes");
  const Vector3 y = scaled(y_part, 1.0 / y_length);
  return {x, y, cross(x, y)};
}

/// The least turn that takes the unit vector `from`, which points into the part, to +z: axes of the turned space.
Axes levelling(const Vector3& from) {
  // I + [v] + [v]^2 / (1 + from.z) with v = from x z (Rodrigues), column by column.
  const double a = 1.0 / (1.0 + from.z);
  return {{1.0 - a * from.x * from.x, -a * from.x * from.y, from.x},
          {-a * from.x * from.y, 1.0 - a * from.y * from.y, from.y},
          {-from.x, -from.y, from.z}};
}

/// Puts the wedge's face on z = 0. `point` and `normal` are the face's, in the coordinates of the placed probe.
void seat(Probe& placed, const Vector3& point, Vector3 normal, const std::string& where) {
  Vector3 emission;
  for (const Element& element : placed.elements) emission = sum(emission, {element.normal.x, element.normal.y, element.normal.z});
  if (dot(normal, emission) < 0.0) normal = scaled(normal, -1.0);
  if (!(normal.z > 1e-3)) {
    throw InputError(where + ", WEDGE_SURFACE_NORMAL", fmt::format("a face whose way into the part has z = {:.3g}", normal.z),
                     "a face that lies on the part (+z into it)");
  }
  const Axes level = levelling(normal);
  for (std::size_t i = 0; i < placed.elements.size(); ++i) {
    Element& element = placed.elements[i];
    const Vector3 from_point = sum({element.centre.x.value, element.centre.y.value, element.centre.z.value}, scaled(point, -1.0));
    const Vector3 seated = level.turned(from_point);
    if (!(seated.z <= rounding)) {
      throw InputError(fmt::format("{}, element {}", where, i + 1),
                       fmt::format("{:.4g} mm beyond the wedge's face", 1e3 * seated.z),
                       "elements on the wedge's side of WEDGE_SURFACE_POINT and WEDGE_SURFACE_NORMAL");
    }
    element.centre = {Metres(point.x + seated.x), Metres(point.y + seated.y), Metres(seated.z)};
    const Vector3 facing = level.turned({element.normal.x, element.normal.y, element.normal.z});
    element.normal = {facing.x, facing.y, facing.z};
  }
}

/// Whether what lies along x of the probe, seen along an element's emission, lies rather along y where the probe is placed.
bool turns_width(const Axes& axes, const Vector3& normal) {
  const Vector3 along = axes.turned(sum({1.0, 0.0, 0.0}, scaled(normal, -normal.x)));
  return std::abs(along.y) > std::abs(along.x);
}

}  // namespace

bool emission_is_backwards(const MfmcProbe& probe, const MfmcPlacement& placement, const std::string& where) {
  const Axes axes = axes_of(placement, where);
  bool stated = false;
  for (const auto& element : probe.elements) {
    if (!element.axes_stated) continue;
    if (!(element.normal.z < 0.0) || axes.turned(element.normal).z > 0.0) return false;
    stated = true;
  }
  return stated;
}

void turn_emission(MfmcProbe& probe) {
  for (auto& element : probe.elements) {
    if (element.axes_stated) element.normal = scaled(element.normal, -1.0);
  }
}

bool lacks_direction(const MfmcPlacement& placement) {
  return is_zero(placement.x_direction) || is_zero(placement.y_direction);
}

double face_tilt(const MfmcProbe& probe, const MfmcPlacement& placement, const std::string& where) {
  if (!probe.wedge_face) return 0.0;
  const Vector3 normal = axes_of(placement, where).turned(probe.wedge_face->normal);
  // The normal's sign is its writer's choice.
  return std::atan2(std::hypot(normal.x, normal.y), std::abs(normal.z)) * 180.0 / std::numbers::pi;
}

Probe unplaced_probe(const MfmcProbe& probe) {
  Probe own;
  own.centre_frequency = Hertz(probe.centre_frequency);
  own.bandwidth = Hertz(probe.bandwidth);
  for (const auto& element : probe.elements) {
    own.elements.push_back({.centre = {Metres(element.centre.x), Metres(element.centre.y), Metres(element.centre.z)},
                            .normal = {element.normal.x, element.normal.y, element.normal.z},
                            .width = Metres(element.width),
                            .length = Metres(element.length),
                            .dead = element.dead});
  }
  return own;
}

Pose pose_of(const MfmcPlacement& placement, const std::string& where) {
  const Axes axes = axes_of(placement, where);
  return {{Metres(placement.position.x), Metres(placement.position.y), Metres(placement.position.z)},
          {axes.x.x, axes.x.y, axes.x.z},
          {axes.y.x, axes.y.y, axes.y.z}};
}

MfmcPlacement placement_of(const Pose& pose) {
  return {{pose.origin.x.value, pose.origin.y.value, pose.origin.z.value},
          {pose.x.x, pose.x.y, pose.x.z},
          {pose.y.x, pose.y.y, pose.y.z}};
}

Probe place_probe(const MfmcProbe& probe, const MfmcPlacement& placement, const std::string& where, bool around) {
  const Axes axes = axes_of(placement, where);
  Probe placed;
  placed.centre_frequency = Hertz(probe.centre_frequency);
  placed.bandwidth = Hertz(probe.bandwidth);
  placed.elements.reserve(probe.elements.size());
  for (const auto& element : probe.elements) {
    const Vector3 centre = sum(placement.position, axes.turned(element.centre));
    const Vector3 normal = axes.turned(element.normal);
    const bool turned = turns_width(axes, element.normal);
    placed.elements.push_back({.centre = {Metres(centre.x), Metres(centre.y), Metres(centre.z)},
                               .normal = {normal.x, normal.y, normal.z},
                               .width = Metres(turned ? element.length : element.width),
                               .length = Metres(turned ? element.width : element.length),
                               .dead = element.dead});
  }
  if (probe.wedge_face) {
    seat(placed, sum(placement.position, axes.turned(probe.wedge_face->point)), axes.turned(probe.wedge_face->normal),
         fmt::format("{}, {}", where, probe.name));
  }
  for (std::size_t i = 0; i < placed.elements.size() && !around; ++i) {
    const Element& element = placed.elements[i];
    const std::string place = fmt::format("{}, {} element {}", where, probe.name, i + 1);
    if (!(element.normal.z > 0.0))
      throw InputError(place, fmt::format("emission towards z = {:.3g}", element.normal.z), "emission into the part (+z)");
    if (!(element.centre.z.value <= rounding))
      throw InputError(place, fmt::format("z = {:.6g} m", element.centre.z.value), "z <= 0, on or above the surface");
  }
  return placed;
}

}  // namespace echoform::formats
