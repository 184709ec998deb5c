#include "formats/mfmc_placement.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "base/errors.hpp"

namespace echoform::formats {
namespace {

/// Tolerance in metres. A micrometre covers rounding in the file; a wavelength is hundreds of micrometres.
constexpr double rounding = 1e-6;

/// Axes of length 1 at right angles.
struct Axes {
  Vector3 x;
  Vector3 y;
  Vector3 z;

  [[nodiscard]] Vector3 turned(const Vector3& v) const { return v.x * x + v.y * y + v.z * z; }
};

constexpr Vector3 into_the_part{0.0, 0.0, 1.0};

bool is_zero(const Vector3& v) {
  return v == Vector3{};
}

/// The axes of a placement. A direction of length 0 is one that its writer did not fill in: then the probe's z points into the
/// part.
Axes axes_of(const MfmcPlacement& placement, const std::string& where) {
  Vector3 x_direction = placement.x_direction;
  Vector3 y_direction = placement.y_direction;
  if (is_zero(x_direction)) x_direction = is_zero(y_direction) ? Vector3{1.0, 0.0, 0.0} : cross(y_direction, into_the_part);
  if (is_zero(y_direction)) y_direction = cross(into_the_part, x_direction);
  const double x_length = length(x_direction);
  if (!(x_length > 0.0)) throw InputError(where, "a PROBE_Y_DIRECTION along z, and no PROBE_X_DIRECTION", "two axes");
  const Vector3 x = (1.0 / x_length) * x_direction;
  const Vector3 y_part = y_direction - dot(y_direction, x) * x;
  const double y_length = length(y_part);
  if (!(y_length > 1e-9 * length(y_direction)))
    throw InputError(where, "PROBE_X_DIRECTION and PROBE_Y_DIRECTION that are parallel", "two axes");
  const Vector3 y = (1.0 / y_length) * y_part;
  return {x, y, cross(x, y)};
}

/// The smallest rotation that takes the unit vector `from`, which points into the part, to +z: the axes of the rotated space.
Axes levelling(const Vector3& from) {
  // I + [v] + [v]^2 / (1 + from.z) with v = from x z (Rodrigues), column by column.
  const double a = 1.0 / (1.0 + from.z);
  return {{1.0 - a * from.x * from.x, -a * from.x * from.y, from.x},
          {-a * from.x * from.y, 1.0 - a * from.y * from.y, from.y},
          {-from.x, -from.y, from.z}};
}

/// Puts the wedge's face on z = 0. `point` and `normal` belong to the face, in the coordinates of the placed probe.
void seat(Probe& placed, const Vector3& point, Vector3 normal, const std::string& where) {
  Vector3 emission;
  for (const Element& element : placed.elements) emission = emission + vector_of(element.normal);
  if (dot(normal, emission) < 0.0) normal = -1.0 * normal;
  if (!(normal.z > 1e-3)) {
    throw InputError(where + ", WEDGE_SURFACE_NORMAL", fmt::format("a face whose way into the part has z = {:.3g}", normal.z),
                     "a face that lies on the part (+z into it)");
  }
  const Axes level = levelling(normal);
  for (std::size_t i = 0; i < placed.elements.size(); ++i) {
    Element& element = placed.elements[i];
    const Vector3 from_point = vector_of(element.centre) - point;
    const Vector3 seated = level.turned(from_point);
    if (!(seated.z <= rounding)) {
      throw InputError(fmt::format("{}, element {}", where, i + 1),
                       fmt::format("{:.4g} mm beyond the wedge's face", 1e3 * seated.z),
                       "elements on the wedge's side of WEDGE_SURFACE_POINT and WEDGE_SURFACE_NORMAL");
    }
    element.centre = {Metres(point.x + seated.x), Metres(point.y + seated.y), Metres(seated.z)};
    element.normal = direction_of(level.turned(vector_of(element.normal)));
  }
}

/// Whether the probe's x, seen along an element's emission, lies rather along y once the probe is placed.
bool turns_width(const Axes& axes, const Vector3& normal) {
  const Vector3 along = axes.turned(Vector3{1.0, 0.0, 0.0} - normal.x * normal);
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
    if (element.axes_stated) element.normal = -1.0 * element.normal;
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
    own.elements.push_back({.centre = point_of(element.centre),
                            .normal = direction_of(element.normal),
                            .width = Metres(element.width),
                            .length = Metres(element.length),
                            .dead = element.dead});
  }
  return own;
}

Pose pose_of(const MfmcPlacement& placement, const std::string& where) {
  const Axes axes = axes_of(placement, where);
  return {point_of(placement.position), direction_of(axes.x), direction_of(axes.y)};
}

MfmcPlacement placement_of(const Pose& pose) {
  return {vector_of(pose.origin), vector_of(pose.x), vector_of(pose.y)};
}

Probe place_probe(const MfmcProbe& probe, const MfmcPlacement& placement, const std::string& where, bool around) {
  const Axes axes = axes_of(placement, where);
  Probe placed;
  placed.centre_frequency = Hertz(probe.centre_frequency);
  placed.bandwidth = Hertz(probe.bandwidth);
  placed.elements.reserve(probe.elements.size());
  for (const auto& element : probe.elements) {
    const bool turned = turns_width(axes, element.normal);
    placed.elements.push_back({.centre = point_of(placement.position + axes.turned(element.centre)),
                               .normal = direction_of(axes.turned(element.normal)),
                               .width = Metres(turned ? element.length : element.width),
                               .length = Metres(turned ? element.width : element.length),
                               .dead = element.dead});
  }
  if (probe.wedge_face) {
    seat(placed, placement.position + axes.turned(probe.wedge_face->point), axes.turned(probe.wedge_face->normal),
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
