#include "acquisition/positions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/directions.hpp"
#include "base/errors.hpp"

namespace echoform {
namespace {

constexpr double farthest_origin = 1e3;  // metres
// A direction written with four digits is accepted.
constexpr double axis_tolerance = 1e-3;

/// Axes of a pose, at right angles up to rounding.
struct PoseAxes {
  explicit PoseAxes(const Pose& pose) : x(unit(pose.x)), y(unit(across(pose.y, x))), z(cross(x, y)) {}

  [[nodiscard]] Direction turned(const Direction& in_probe) const {
    return {in_probe.x * x.x + in_probe.y * y.x + in_probe.z * z.x, in_probe.x * x.y + in_probe.y * y.y + in_probe.z * z.y,
            in_probe.x * x.z + in_probe.y * y.z + in_probe.z * z.z};
  }

  Direction x;
  Direction y;
  Direction z;
};

/// Whether the element's side that lies along x, seen along its emission, lies closer to y once the probe is placed.
bool swaps_sides(const PoseAxes& axes, const Direction& normal) {
  const Direction along = axes.turned(across({1.0, 0.0, 0.0}, normal));
  return std::abs(along.y) > std::abs(along.x);
}

bool fires_every_element(const Acquisition& acquisition) {
  if (acquisition.events.size() != acquisition.elements()) return false;
  for (std::uint32_t k = 0; k < acquisition.events.size(); ++k) {
    if (acquisition.events[k] != TransmitEvent{ElementEvent{k}, {}}) return false;
  }
  return true;
}

}  // namespace

Probe placed(Probe probe, const Pose& pose) {
  const PoseAxes axes(pose);
  for (Element& element : probe.elements) {
    const Direction centre = axes.turned({element.centre.x.value, element.centre.y.value, element.centre.z.value});
    if (swaps_sides(axes, element.normal)) std::swap(element.width, element.length);
    element.centre = {pose.origin.x + Metres(centre.x), pose.origin.y + Metres(centre.y), pose.origin.z + Metres(centre.z)};
    element.normal = axes.turned(element.normal);
  }
  probe.x_axis = axes.turned(probe.x_axis);
  return probe;
}

std::vector<Pose> line_of_poses(std::size_t count, Metres step, const Direction& direction) {
  std::vector<Pose> poses(count);
  for (std::size_t k = 0; k < count; ++k) {
    const Metres way = static_cast<double>(k) * step;
    poses[k].origin = {direction.x * way, direction.y * way, direction.z * way};
  }
  return poses;
}

PositionPart part_at(const Acquisition& acquisition, std::size_t position) {
  PositionPart part;
  Acquisition& alone = part.acquisition;
  alone = acquisition;
  alone.probe = placed(acquisition.probe, acquisition.positions[position]);
  alone.positions.clear();
  alone.events.clear();
  for (std::uint32_t event = 0; event < acquisition.events.size(); ++event) {
    if (acquisition.events[event].position != position) continue;
    part.events.push_back(event);
    alone.events.push_back(acquisition.events[event]);
    alone.events.back().position = 0;
  }
  if (fires_every_element(alone)) alone.events.clear();
  return part;
}

Probe probe_at_all_positions(const Acquisition& acquisition) {
  if (acquisition.positions.empty()) return acquisition.probe;
  Probe all = acquisition.probe;
  all.elements.clear();
  for (const Pose& pose : acquisition.positions) {
    const Probe probe = placed(acquisition.probe, pose);
    all.elements.insert(all.elements.end(), probe.elements.begin(), probe.elements.end());
  }
  return all;
}

void validate_positions(const Acquisition& acquisition, std::size_t most, std::string_view where) {
  const std::vector<Pose>& positions = acquisition.positions;
  if (positions.size() > most) {
    throw InputError(fmt::format("{} positions", where), fmt::format("{}", positions.size()),
                     fmt::format("at most {} a frame (more are a scan)", most));
  }
  std::vector<bool> used(std::max<std::size_t>(1, positions.size()));
  for (std::size_t event = 0; event < acquisition.events.size(); ++event) {
    const std::uint32_t position = acquisition.events[event].position;
    if (position < used.size()) {
      used[position] = true;
      continue;
    }
    throw InputError(
        fmt::format("{} event {}", where, event), fmt::format("position {}", position),
        positions.empty() ? std::string("no position, since none are stated") : fmt::format("0 to {}", positions.size() - 1));
  }
  // Detectors of photoacoustic sound may face in any direction.
  const bool passive = all_passive(acquisition.events);
  for (std::size_t k = 0; k < positions.size(); ++k) {
    const Pose& pose = positions[k];
    const auto refuse = [&](const std::string& found, const std::string& expected) {
      throw InputError(fmt::format("{} position {}", where, k), found, expected);
    };
    for (const Metres value : {pose.origin.x, pose.origin.y, pose.origin.z}) {
      if (!(std::abs(value.value) <= farthest_origin)) {
        refuse(fmt::format("an origin at {} m", value.value), fmt::format("finite places within {:g} m", farthest_origin));
      }
    }
    for (const auto& [name, axis] : {std::pair{"x", pose.x}, std::pair{"y", pose.y}}) {
      const double size = length(axis);
      if (!(std::abs(size - 1.0) <= axis_tolerance))
        refuse(fmt::format("a direction of {} of length {}", name, std::abs(size)), "a unit vector");  // std::abs avoids "-nan"
    }
    if (const double cosine = dot(pose.x, pose.y); !(std::abs(cosine) <= axis_tolerance)) {
      refuse(fmt::format("directions of x and y that are not across each other: x . y = {:.4g}", cosine), "a right angle");
    }
    const PoseAxes axes(pose);
    for (std::size_t i = 0; i < acquisition.elements() && !passive; ++i) {
      const double way = axes.turned(acquisition.probe.elements[i].normal).z;
      if (way > 0.0) continue;
      refuse(fmt::format("element {} emitting towards z = {:.3g}", i, way),
             "a probe that is not upside down: emission into the part (+z)");
    }
    if (!used[k]) refuse("no event", "at least one that fires there");
  }
}

}  // namespace echoform
