// Ways from one source to the points of a lattice: a full search at the corners of bricks; in between, searches begin at the
// results of the corners.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>

#include "rays/point_lattice.hpp"
#include "rays/stationary_way.hpp"

namespace echoform::rays {

/// The result of a full search for a point.
struct SearchedWay {
  std::optional<SpaceWay> way;  ///< the fastest one that is a ray
  /// Lower bound of how much slower the other stationary ways are, whether rays or not, in s; below 0 if one is faster.
  double lead = std::numeric_limits<double>::infinity();
};

struct WaySearch {
  /// Searches for the ways to a point of the run; other ways that are slower by less than `room` s are searched for too.
  std::function<SearchedWay(std::uint32_t point, double room)> fully;
  /// Finds the stationary way to a point from places near that way, one on each surface.
  std::function<std::optional<SpaceWay>(std::uint32_t point, std::span<const Vector3> near)> nearby;
  /// Whether a way is a ray.
  std::function<bool(std::uint32_t point, const SpaceWay& way)> passes;
  std::size_t surfaces = 1;
  double slowness = 0.0;  ///< on the last leg, s/m: times of a way to two points differ by at most this times their distance
};

/// Calls tell(point, way) once for every point of the lattice; there is no way if there is no ray.
///
/// A brick has one branch under two conditions: at all its corners the fastest way leads all others by more than times may
/// change within the brick, and Newton's method leads from each corner's way to those of its neighbours. The ways of such a
/// brick's points are found from the corners' ways, and by a full search where that leads to no ray or away from them. Other
/// bricks are split, down to single points.
void search_by_bricks(const PointLattice& lattice, std::span<const Point> points, const WaySearch& search,
                      const std::function<void(std::uint32_t point, const std::optional<SpaceWay>& way)>& tell);

}  // namespace echoform::rays
