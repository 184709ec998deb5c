#include "delay_laws/part_bounds.hpp"

#include <algorithm>

#include "delay_laws/over_sources.hpp"

namespace echoform {
namespace {

/// A pixel that lies outside by less than this counts as lying on the surface, because rounding decides its side.
constexpr double rounding = 1e-9;
/// A pixel that lies inside by less than this counts as lying on the surface too: so near to it, solvers lose rays that leave the
/// surface again at once across its plane.
constexpr double near = 1e-8;
/// Rays to a pixel on the surface end at this distance from it.
constexpr double just_inside = 2e-8;

/// The same value as Surface::signed_distance, which walks over all nodes.
double distance_below(const Surface& surface, Vector2 place) {
  if (!surface.plane()) return surface.signed_distance(place);
  const Segment& line = surface.segments().front();
  return cross(line.b, place - line.a) / length(line.b);
}

/// The side of one bound on which a point lies; `inside` is the point's signed distance, positive inside.
PartSide side_of(double inside) {
  return inside > near ? PartSide::within : inside < -rounding ? PartSide::outside : PartSide::on_surface;
}

/// Moves a point that lies on the surface off it; with `sign` 1 it moves below the surface, with -1 above.
void move_off(const Surface& surface, double sign, Vector3& place) {
  const Vector2 flat{place.x, place.z};
  const SurfaceFoot foot = surface.foot(flat);
  const Vector2 along = surface.point(foot.place).first;
  const double by = (just_inside - sign * distance_below(surface, flat)) * sign / length(along);
  place.x -= by * along.z;
  place.z += by * along.x;
}

void move_off(const SpatialSurface& surface, double sign, Vector3& place) {
  const Vector3 normal = surface.foot(place).normal;
  place = place + ((just_inside - sign * surface.signed_distance(place)) * sign) * normal;
}

}  // namespace

void PartBounds::sides(std::span<const Point> points, std::span<PartSide> sides) const {
  for (std::size_t k = 0; k < points.size(); ++k) {
    const Vector3 place = vector_of(points[k]);
    const Vector2 flat{place.x, place.z};
    PartSide side = PartSide::within;
    const auto take = [&](PartSide of_bound) {
      if (side != PartSide::outside && of_bound != PartSide::within) side = of_bound;
    };
    if (front != nullptr) take(side_of(distance_below(*front, flat)));
    if (spatial_front != nullptr) take(side_of(spatial_front->signed_distance(place)));
    if (backwall != nullptr) take(side_of(-distance_below(*backwall, flat)));
    if (spatial_backwall != nullptr) take(side_of(-spatial_backwall->signed_distance(place)));
    sides[k] = side;
  }
}

Point PartBounds::moved_inside(const Point& point) const {
  Vector3 place = vector_of(point);
  const auto lies_on = [](double inside) { return side_of(inside) == PartSide::on_surface; };
  const Vector2 flat{place.x, place.z};
  if (front != nullptr && lies_on(distance_below(*front, flat))) move_off(*front, 1.0, place);
  if (spatial_front != nullptr && lies_on(spatial_front->signed_distance(place))) move_off(*spatial_front, 1.0, place);
  if (backwall != nullptr && lies_on(-distance_below(*backwall, flat))) move_off(*backwall, -1.0, place);
  if (spatial_backwall != nullptr && lies_on(-spatial_backwall->signed_distance(place))) move_off(*spatial_backwall, -1.0, place);
  return {Metres(place.x), Metres(place.y), Metres(place.z)};
}

PointsInPart::PointsInPart(const PartBounds& bounds, std::span<const Point> points) {
  std::vector<PartSide> sides(points.size());
  bounds.sides(points, sides);
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (sides[k] == PartSide::outside) continue;
    number.push_back(k);
    place.push_back(sides[k] == PartSide::within ? points[k] : bounds.moved_inside(points[k]));
  }
}

Point PartPixels::place(const Grid& grid, std::size_t pixel) const {
  if (sides[pixel] != PartSide::on_surface) return grid.at(pixel);
  return std::ranges::lower_bound(moved, pixel, {}, &Moved::pixel)->place;
}

PartPixels pixels_in(const PartBounds& bounds, const Grid& grid, std::size_t threads) {
  constexpr std::size_t at_once = 1024;
  const std::vector<Point> points = grid.points();
  PartPixels pixels;
  pixels.sides.resize(points.size());
  over_sources((points.size() + at_once - 1) / at_once, threads, [&](std::size_t k) {
    const std::size_t count = std::min(at_once, points.size() - k * at_once);
    bounds.sides(std::span(points).subspan(k * at_once, count), std::span(pixels.sides).subspan(k * at_once, count));
  });
  for (std::size_t pixel = 0; pixel < points.size(); ++pixel) {
    if (pixels.sides[pixel] == PartSide::on_surface) pixels.moved.push_back({pixel, bounds.moved_inside(points[pixel])});
  }
  return pixels;
}

}  // namespace echoform
