#include "methods/tomography/reach.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "base/directions.hpp"
#include "base/planning.hpp"
#include "stages/back_projection/back_projection_math.hpp"

namespace echoform {
namespace {

constexpr double rounding = 1e-9;  // m
constexpr std::size_t tried_along_axis = 9;

std::vector<Metres> places_along(const Axis& axis) {
  const std::size_t count = std::min(axis.count, tried_along_axis);
  std::vector<Metres> places;
  for (std::size_t k = 0; k < count; ++k) places.push_back(axis.at(count < 2 ? 0 : k * (axis.count - 1) / (count - 1)));
  return places;
}

/// Travel time in seconds along a straight ray.
double time_of(const Direction& way, const Point& from, MetresPerSecond velocity, const std::optional<SoundInclusion>& object) {
  const double outside = length(way) / velocity.value;
  if (!object) return outside;
  const Direction start = between(object->centre, from);
  const auto& [x, y, z] = object->radii;
  const Direction s{start.x / x.value, start.y / y.value, start.z / z.value};
  const Direction e{way.x / x.value, way.y / y.value, way.z / z.value};
  const float part = part_inside(static_cast<float>(dot(e, e)), static_cast<float>(dot(s, e)), static_cast<float>(dot(s, s)));
  return outside * (1.0 + static_cast<double>(part) * (velocity.value / object->velocity.value - 1.0));
}

}  // namespace

bool holds(const Grid& grid, const Point& point) {
  const auto within = [](const Axis& axis, Metres place) {
    return place.value >= axis.first.value - rounding && place.value <= axis.last.value + rounding;
  };
  return within(grid.x, point.x) && within(grid.y, point.y) && within(grid.z, point.z);
}

ReachOfGrid reach_of(const Grid& grid, std::span<const Detector> detectors, MetresPerSecond velocity,
                     const std::optional<SoundInclusion>& object, double opens, double closes) {
  ReachOfGrid reach;
  std::vector<Point> tried;
  for (const Metres z : places_along(grid.z)) {
    for (const Metres y : places_along(grid.y)) {
      for (const Metres x : places_along(grid.x)) tried.push_back({x, y, z});
    }
  }
  std::vector<bool> heard(tried.size());
  const double fastest = std::max(velocity.value, object ? object->velocity.value : 0.0);
  const double slowest = std::min(velocity.value, object ? object->velocity.value : velocity.value);
  double nearest = std::numeric_limits<double>::infinity();
  double farthest = 0.0;
  std::size_t ways = 0;
  std::size_t beyond = 0;
  for (std::size_t q = 0; q < detectors.size(); ++q) {
    if (q % 64 == 0) keep_planning();
    const Detector& detector = detectors[q];
    bool faces = false;
    for (std::size_t k = 0; k < tried.size(); ++k) {
      const Direction way = between(detector.centre, tried[k]);
      if (!(dot(detector.normal, way) > 0.0)) continue;
      faces = true;
      ++ways;
      const double time = time_of(way, detector.centre, velocity, object);
      if (time >= opens && time < closes) {
        heard[k] = true;
      } else {
        ++beyond;
      }
    }
    if (!faces) continue;
    ++reach.facing;
    // Smallest and greatest distance to the box.
    double least = 0.0;
    double most = 0.0;
    const auto add = [&](const Axis& axis, Metres place) {
      const double before = (axis.first - place).value;
      const double behind = (place - axis.last).value;
      const double near = std::max({0.0, before, behind});
      const double far = std::max(std::abs(before), std::abs(behind));
      least += near * near;
      most += far * far;
    };
    add(grid.x, detector.centre.x);
    add(grid.y, detector.centre.y);
    add(grid.z, detector.centre.z);
    nearest = std::min(nearest, std::sqrt(least));
    farthest = std::max(farthest, std::sqrt(most));
  }
  if (reach.facing > 0) {
    reach.earliest = nearest / fastest;
    reach.latest = farthest / slowest;
  }
  reach.beyond = ways > 0 ? static_cast<double>(beyond) / static_cast<double>(ways) : 0.0;
  reach.voxels_tried = tried.size();
  reach.voxels_unheard = static_cast<std::size_t>(std::ranges::count(heard, false));
  return reach;
}

}  // namespace echoform
