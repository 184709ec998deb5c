#include "delay_laws/part_bounds.hpp"

namespace echoform {
namespace {

/// Nearer to a surface than this a pixel lies on it, and on which side is a matter of rounding.
constexpr double on_surface = 1e-9;

/// As Surface::signed_distance, which walks over all nodes.
double distance_below(const Surface& surface, Vector2 place) {
  if (!surface.plane()) return surface.signed_distance(place);
  const Segment& line = surface.segments().front();
  return cross(line.b, place - line.a) / length(line.b);
}

}  // namespace

void PartBounds::holds(std::span<const Point> points, std::span<std::uint8_t> inside) const {
  for (std::size_t k = 0; k < points.size(); ++k) {
    const Vector2 place{points[k].x.value, points[k].z.value};
    inside[k] = (front == nullptr || distance_below(*front, place) > on_surface) &&
                        (spatial_front == nullptr || spatial_front->signed_distance(vector_of(points[k])) > on_surface) &&
                        (backwall == nullptr || distance_below(*backwall, place) < -on_surface) &&
                        (spatial_backwall == nullptr || spatial_backwall->signed_distance(vector_of(points[k])) < -on_surface)
                    ? 1
                    : 0;
  }
}

}  // namespace echoform
