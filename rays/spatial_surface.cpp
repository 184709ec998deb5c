#include "rays/spatial_surface.hpp"

#include <algorithm>

namespace echoform {
namespace {

constexpr double close_enough = 1e-9;  // m

/// Gradient of the signed distance, from differences over `step` metres to either side.
Vector3 slope_of(const SpatialSurface& surface, Vector3 at) {
  constexpr double step = 1e-6;
  const auto along = [&](Vector3 way) {
    return surface.signed_distance(at + step * way) - surface.signed_distance(at - step * way);
  };
  return unit_of({along({1.0, 0.0, 0.0}), along({0.0, 1.0, 0.0}), along({0.0, 0.0, 1.0})});
}

}  // namespace

SpatialFoot SpatialSurface::foot(Vector3 from) const {
  const Vector3 at = from - signed_distance(from) * slope_of(*this, from);
  return {at, slope_of(*this, at)};
}

std::optional<double> way_into(const SpatialSurface& surface, Vector3 from, Vector3 direction, double farthest) {
  // No place of the part is nearer than its distance, so the path is free over this length (Hart 1996, The Visual Computer 12,
  // 527-545).
  double far = 0.0;
  double outside = -surface.signed_distance(from);
  if (!(outside > 0.0)) return std::nullopt;
  constexpr int most_steps = 4096;
  for (int step = 0; step < most_steps && far <= farthest; ++step) {
    far += std::max(outside, 0.5 * close_enough);
    outside = -surface.signed_distance(from + far * direction);
    if (outside <= 0.0) return far <= farthest ? std::optional(far) : std::nullopt;
  }
  return std::nullopt;
}

bool meets(const SpatialSurface& surface, Vector3 from, Vector3 to) {
  const double far = length(to - from);
  return far > 0.0 && way_into(surface, from, (1.0 / far) * (to - from), far).has_value();
}

std::vector<Vector2> section_in_plane(const SpatialSurface& surface, double y, double first, double last, double top,
                                      double bottom, std::size_t count) {
  std::vector<Vector2> longest;
  std::vector<Vector2> stretch;
  for (std::size_t k = 0; k < count; ++k) {
    const double x = first + (last - first) * static_cast<double>(k) / static_cast<double>(count - 1);
    const auto depth = way_into(surface, {x, y, top}, {0.0, 0.0, 1.0}, bottom - top);
    if (depth) stretch.push_back({x, top + *depth});
    if (stretch.size() > longest.size()) longest = stretch;
    if (!depth) stretch.clear();
  }
  return longest.size() > 1 ? longest : std::vector<Vector2>{};
}

}  // namespace echoform
