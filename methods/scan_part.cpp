#include "methods/scan_part.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/directions.hpp"

namespace echoform {
namespace {

/// Tolerance in metres: negligible at any pixel spacing, and far more than rounding.
constexpr double edge = 1e-10;

struct Plane {
  Direction normal;
  double at;  ///< normal . p
};

/// The point where three planes meet; nothing where they do not meet, or meet in more than a point.
std::optional<Direction> meeting(const Plane& a, const Plane& b, const Plane& c) {
  const Direction bc = cross(b.normal, c.normal);
  const double volume = dot(a.normal, bc);
  if (std::abs(volume) < 1e-12) return {};
  const Direction ca = cross(c.normal, a.normal);
  const Direction ab = cross(a.normal, b.normal);
  const auto part = [&](double x, double y, double z) { return (a.at * x + b.at * y + c.at * z) / volume; };
  return Direction{part(bc.x, ca.x, ab.x), part(bc.y, ca.y, ab.y), part(bc.z, ca.z, ab.z)};
}

}  // namespace

std::optional<GridPart> part_within(const Grid& grid, std::span<const Slab> slabs) {
  const std::array<const Axis*, 3> axes{&grid.x, &grid.y, &grid.z};
  const std::array<Direction, 3> units{Direction{1.0, 0.0, 0.0}, Direction{0.0, 1.0, 0.0}, Direction{0.0, 0.0, 1.0}};
  std::vector<Plane> planes;  // in pairs, the lower first
  for (std::size_t a = 0; a < 3; ++a) {
    planes.push_back({units[a], axes[a]->first.value});
    planes.push_back({units[a], axes[a]->at(axes[a]->count - 1).value});
  }
  for (const Slab& slab : slabs) {
    const double from = dot(slab.across, between(Point{}, slab.from));
    planes.push_back({slab.across, from + slab.least});
    planes.push_back({slab.across, from + slab.most});
  }
  const auto within = [&](const Direction& place) {
    for (std::size_t k = 0; k < planes.size(); k += 2) {
      const double at = dot(planes[k].normal, place);
      if (at < planes[k].at - edge || at > planes[k + 1].at + edge) return false;
    }
    return true;
  };
  // The places are a convex body. Its corners, each at the meeting of three planes, determine its extent.
  constexpr double infinite = std::numeric_limits<double>::infinity();
  std::array<double, 3> low{infinite, infinite, infinite};
  std::array<double, 3> high{-infinite, -infinite, -infinite};
  for (std::size_t i = 0; i < planes.size(); ++i) {
    for (std::size_t j = i + 1; j < planes.size(); ++j) {
      for (std::size_t k = j + 1; k < planes.size(); ++k) {
        const auto corner = meeting(planes[i], planes[j], planes[k]);
        if (!corner || !within(*corner)) continue;
        const std::array<double, 3> at{corner->x, corner->y, corner->z};
        for (std::size_t a = 0; a < 3; ++a) {
          low[a] = std::min(low[a], at[a]);
          high[a] = std::max(high[a], at[a]);
        }
      }
    }
  }
  GridPart part;
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t i = 0; i < axes[a]->count; ++i) {
      const double at = axes[a]->at(i).value;
      if (at < low[a] - edge || at > high[a] + edge) continue;
      if (part.count[a] == 0) part.first[a] = i;
      part.count[a] = i + 1 - part.first[a];
    }
    if (part.count[a] == 0) return {};
  }
  return part;
}

}  // namespace echoform
