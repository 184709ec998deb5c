#include "rays/ray_bundle.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace echoform {
namespace {

/// How far a bundle may extend beyond the known rays, whose neighbours bend a little, as a part of its largest width.
constexpr double bulge = 0.02;

/// Corners of the smallest convex polygon around `points`, in order (Andrew's chains). Sorts `points`.
std::vector<Vector2> hull_of(std::vector<Vector2>& points) {
  std::sort(points.begin(), points.end());
  std::vector<Vector2> hull;
  const auto chain = [&](auto begin, auto end) {
    const std::size_t base = hull.size();
    for (auto point = begin; point != end; ++point) {
      while (hull.size() >= base + 2 && cross(hull.back() - hull[hull.size() - 2], *point - hull.back()) <= 0.0) hull.pop_back();
      hull.push_back(*point);
    }
    hull.pop_back();  // this point begins the other chain
  };
  chain(points.begin(), points.end());
  chain(points.rbegin(), points.rend());
  return hull;
}

/// Whether a line along an edge of `hull` or along a-b separates the two, `margin` away from the hull.
bool apart(std::span<const Vector2> hull, Vector2 a, Vector2 b, double margin) {
  for (std::size_t k = 0; k < hull.size(); ++k) {
    const Vector2 edge = hull[(k + 1) % hull.size()] - hull[k];
    const double limit = -margin * length(edge);  // the hull lies on the positive side
    if (cross(edge, a - hull[k]) < limit && cross(edge, b - hull[k]) < limit) return true;
  }
  const Vector2 chord = b - a;
  const double limit = margin * length(chord);
  bool above = true;
  bool below = true;
  for (const Vector2 corner : hull) {
    const double side = cross(chord, corner - a);
    above = above && side < -limit;
    below = below && side > limit;
  }
  return above || below;
}

}  // namespace

RayBundles::RayBundles(const RayPath& path) : path_(path) {
  for (const RayInterface& interface : path.interfaces) {
    if (interface.spatial != nullptr) {
      broken_ = true;
      return;
    }
    const Surface& surface = *interface.surface;
    broken_ = broken_ || surface.is_sampled();
    convex_ = convex_ && surface.plane();
    shadows_ = shadows_ || surface.shadows();
    Outline outline;
    outline.surface = &surface;
    const auto& nodes = surface.nodes();
    for (const SurfaceNode& node : nodes) outline.along.push_back(node.place.segment + node.place.t);
    const auto segments = static_cast<std::uint32_t>(surface.segments().size());
    outline.corners.emplace_back(0.0, nodes.front().at);
    for (std::uint32_t k = 0; k + 1 < segments; ++k) {
      if (!surface.smooth_after(k)) outline.corners.emplace_back(k + 1, surface.point({k, 1.0}).at);
    }
    outline.corners.emplace_back(segments, nodes.back().at);
    for (std::size_t first = 0; first + 1 < nodes.size(); first += group_size) {
      auto& [low, high] = outline.boxes.emplace_back(nodes[first].at, nodes[first].at);
      for (std::size_t n = first; n <= std::min(first + group_size, nodes.size() - 1); ++n) {
        const double sag = std::max(n > first ? surface.sag(n - 1) : 0.0, surface.sag(n));
        low = {std::min(low.x, nodes[n].at.x - sag), std::min(low.z, nodes[n].at.z - sag)};
        high = {std::max(high.x, nodes[n].at.x + sag), std::max(high.z, nodes[n].at.z + sag)};
      }
    }
    outlines_.push_back(std::move(outline));
  }
}

bool RayBundles::one(Vector2 source, std::span<const Vector2> points, std::span<const RayTrace> traces, double reach) const {
  const auto lost = [](const RayTrace& trace) { return std::isnan(trace.seconds); };
  if (broken_ || std::any_of(traces.begin(), traces.end(), lost)) return false;
  if (convex_) return true;
  // Over `reach` the time of any path changes by no more than reach / c.
  const double lead = 2.0 * reach / path_.velocities.back().value;
  if (!std::all_of(traces.begin(), traces.end(), [&](const RayTrace& trace) { return trace.lead > lead; })) return false;
  std::array<Stretch, rays::most_interfaces> stretches;
  const std::size_t count = path_.interfaces.size();
  for (std::size_t k = 0; k < count; ++k) {
    if (!smooth(k, traces, stretches[k]) || !on_right_sides(k, stretches[k], source, points, traces)) return false;
  }
  if (!shadows_) return true;
  std::vector<Vector2> corners;
  for (std::size_t leg = 0; leg <= count; ++leg) {
    corners.clear();
    if (leg == 0) corners.push_back(source);
    for (std::size_t k = 0; k < traces.size(); ++k) {
      if (leg > 0) corners.push_back(traces[k].crossings[leg - 1].at);
      corners.push_back(leg < count ? traces[k].crossings[leg].at : points[k]);
    }
    if (!leg_is_free(leg, hull_of(corners), std::span(stretches).first(count))) return false;
  }
  return true;
}

/// Whether the rays cross the interface neither at a corner or an end nor near to one. Fills `stretch`.
bool RayBundles::smooth(std::size_t interface, std::span<const RayTrace> traces, Stretch& stretch) const {
  const Outline& outline = outlines_[interface];
  RayCrossing low = traces.front().crossings[interface];
  RayCrossing high = low;
  for (const RayTrace& trace : traces) {
    const RayCrossing& crossing = trace.crossings[interface];
    if (crossing.along < low.along) low = crossing;
    if (crossing.along > high.along) high = crossing;
  }
  const double near = 0.25 * length(high.at - low.at);
  for (const auto& [along, at] : outline.corners) {
    if (along >= low.along && along <= high.along) return false;
    if (length(at - low.at) <= near || length(at - high.at) <= near) return false;
  }
  const auto begin = outline.along.begin();
  const auto after_low = std::upper_bound(begin, outline.along.end(), low.along) - begin;
  const auto at_high = std::lower_bound(begin, outline.along.end(), high.along) - begin;
  stretch.first = static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, after_low)) - 1;
  stretch.last = std::min(static_cast<std::size_t>(at_high), outline.along.size() - 1);
  return true;
}

/// Whether both ends of every ray's legs at the interface lie on the right side of every chord of the stretch. If so, no ray
/// between them meets the stretch again. A ray on chord a, with its end above the lines of chords a and b, stays above the line
/// of a. If the stretch bulges between a and b, b lies below that line; if not, the ray's beginning lies above b's line as well.
bool RayBundles::on_right_sides(std::size_t interface, const Stretch& stretch, Vector2 source, std::span<const Vector2> points,
                                std::span<const RayTrace> traces) const {
  const RayInterface& side = path_.interfaces[interface];
  const double arrives = side.from_below ? 1.0 : -1.0;
  const double leaves = side.reflects ? arrives : -arrives;
  const auto& nodes = outlines_[interface].surface->nodes();
  for (std::size_t n = stretch.first; n < stretch.last; ++n) {
    const Vector2 chord = nodes[n + 1].at - nodes[n].at;
    for (std::size_t k = 0; k < traces.size(); ++k) {
      const Vector2 from = interface == 0 ? source : traces[k].crossings[interface - 1].at;
      const Vector2 to = interface + 1 < path_.interfaces.size() ? traces[k].crossings[interface + 1].at : points[k];
      if (arrives * cross(chord, from - nodes[n].at) < 0.0 || leaves * cross(chord, to - nodes[n].at) < 0.0) return false;
    }
  }
  return true;
}

/// Whether no surface that casts shadows comes between the ends of a leg. The stretches at these ends are excepted:
/// on_right_sides() checks them.
bool RayBundles::leg_is_free(std::size_t leg, std::span<const Vector2> hull, std::span<const Stretch> stretches) const {
  Vector2 low{hull.front()};
  Vector2 high{low};
  for (const Vector2 corner : hull) {
    low = {std::min(low.x, corner.x), std::min(low.z, corner.z)};
    high = {std::max(high.x, corner.x), std::max(high.z, corner.z)};
  }
  // The smallest width of the hull over its edges bounds the width of the bundle.
  double width = length(high - low);
  for (std::size_t k = 0; k < hull.size(); ++k) {
    const Vector2 edge = hull[(k + 1) % hull.size()] - hull[k];
    double widest = 0.0;
    for (const Vector2 corner : hull) widest = std::max(widest, cross(edge, corner - hull[k]));
    width = std::min(width, widest / std::max(length(edge), 1e-300));
  }
  const double margin = bulge * width;
  const Vector2 around{margin, margin};
  low = low - around;
  high = high + around;
  for (std::size_t k = 0; k < outlines_.size(); ++k) {
    const Outline& outline = outlines_[k];
    const Surface& surface = *outline.surface;
    if (!surface.shadows()) continue;
    const auto own = [&](std::size_t chord) {
      for (const std::size_t end : {leg - 1, leg}) {  // at the source `end` wraps beyond the size: no stretch
        if (end >= stretches.size() || outlines_[end].surface != &surface) continue;
        if (chord >= stretches[end].first && chord < stretches[end].last) return true;
      }
      return false;
    };
    const auto& nodes = surface.nodes();
    for (std::size_t group = 0; group < outline.boxes.size(); ++group) {
      const auto& [from, to] = outline.boxes[group];
      if (from.x > high.x || to.x < low.x || from.z > high.z || to.z < low.z) continue;
      const std::size_t end = std::min((group + 1) * group_size, nodes.size() - 1);
      for (std::size_t chord = group * group_size; chord < end; ++chord) {
        if (nodes[chord].at != nodes[chord + 1].at && !own(chord) &&
            !apart(hull, nodes[chord].at, nodes[chord + 1].at, margin + surface.sag(chord)))
          return false;
      }
    }
  }
  return true;
}

double RayBundles::hidden(double gap, double clear) const {
  if (convex_) return 0.0;
  const double width = 0.5 * gap;
  return width * width / (8.0 * path_.velocities.back().value * std::max(clear, 1e-12));
}

double RayBundles::distance(Vector2 place) const {
  return path_.interfaces.empty() ? 0.0 : std::abs(path_.interfaces.back().surface->signed_distance(place));
}

}  // namespace echoform
