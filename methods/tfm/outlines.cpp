#include "methods/tfm/outlines.hpp"

#include <algorithm>
#include <string_view>

#include "acquisition/positions.hpp"

namespace echoform {
namespace {

struct Stretch {
  double first;
  double last;
};

Stretch window_of(const Probe& probe, const Grid& shown) {
  Stretch window{shown.x.first.value, shown.x.last.value};
  for (const Element& element : probe.elements) {
    window.first = std::min(window.first, element.centre.x.value);
    window.last = std::max(window.last, element.centre.x.value);
  }
  const double beside = 0.25 * (window.last - window.first);
  return {window.first - beside, window.last + beside};
}

/// An outline of evenly selected points, with both ends.
Outline outline_of(std::string_view name, const std::vector<Vector2>& points) {
  Outline outline{.name = std::string(name), .x = {}, .z = {}};
  const std::size_t count = std::min(points.size(), most_outline_points);
  for (std::size_t k = 0; k < count; ++k) {
    const Vector2& at = points[count < 2 ? 0 : k * (points.size() - 1) / (count - 1)];
    outline.x.push_back(static_cast<float>(at.x));
    outline.z.push_back(static_cast<float>(at.z));
  }
  return outline;
}

/// Moves `from`, which lies outside of the window, towards `to` onto the window's edge.
Vector2 cut(Vector2 from, Vector2 to, const Stretch& window) {
  const double edge = std::clamp(from.x, window.first, window.last);
  if (edge == from.x || to.x == from.x) return from;
  const double part = std::clamp((edge - from.x) / (to.x - from.x), 0.0, 1.0);
  return from + part * (to - from);
}

std::vector<Vector2> within(const Surface& surface, const Stretch& window) {
  const auto& nodes = surface.nodes();
  std::vector<Vector2> points;
  std::size_t first = nodes.size();
  std::size_t last = 0;
  for (std::size_t k = 0; k + 1 < nodes.size(); ++k) {
    const auto [low, high] = std::minmax(nodes[k].at.x, nodes[k + 1].at.x);
    if (high < window.first || low > window.last) continue;
    first = std::min(first, k);
    last = k + 1;
  }
  if (first >= last) return points;
  for (std::size_t k = first; k <= last; ++k) points.push_back(nodes[k].at);
  const Vector2 begin = cut(points.front(), points[1], window);
  const Vector2 end = cut(points.back(), points[points.size() - 2], window);
  points.front() = begin;
  points.back() = end;
  if (surface.plane()) return {begin, end};
  return points;
}

}  // namespace

std::vector<Outline> make_outlines(const ImagingPlan& plan, const Scene& scene, const Grid& shown) {
  std::vector<Outline> outlines;
  std::vector<Vector2> centres;
  // Several positions give one line through all of them.
  const Probe probe = probe_at_all_positions(plan.acquisition);
  for (const Element& element : probe.elements) centres.push_back({element.centre.x.value, element.centre.z.value});
  if (!centres.empty()) outlines.push_back(outline_of("probe", centres));
  const Stretch window = window_of(probe, shown);
  const auto add = [&](std::string_view name, const Surface* surface) {
    if (surface == nullptr) return;
    const std::vector<Vector2> points = within(*surface, window);
    if (!points.empty()) outlines.push_back(outline_of(name, points));
  };
  const auto add_section = [&](std::string_view name, const SpatialSurface& surface, double bottom) {
    double top = shown.z.first.value;
    for (const Vector2 centre : centres) top = std::min(top, centre.z);
    const double middle = 0.5 * (shown.y.first + shown.y.last).value;
    const std::vector<Vector2> points =
        section_in_plane(surface, middle, window.first, window.last, top, bottom, most_outline_points);
    if (!points.empty()) outlines.push_back(outline_of(name, points));
  };
  add("surface", scene.surface.get());
  if (scene.spatial_surface != nullptr) add_section("surface", *scene.spatial_surface, shown.z.last.value);
  add("backwall", scene.backwall.get());
  // A backwall may lie below the image.
  const double below = shown.z.last.value + (window.last - window.first);
  if (scene.spatial_backwall != nullptr) add_section("backwall", *scene.spatial_backwall, below);
  return outlines;
}

}  // namespace echoform
