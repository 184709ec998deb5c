#include "rays/revolved_surface.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "rays/revolved_field.hpp"

namespace echoform {
namespace {

/// Whether a curve bends to its lower side alone.
bool bulges(const Surface& curve) {
  const auto& nodes = curve.nodes();
  Vector2 before;
  for (std::size_t k = 1; k < nodes.size(); ++k) {
    const Vector2 now = nodes[k].at - nodes[k - 1].at;
    const double size = length(now);
    if (size < 1e-9) continue;  // a joint: one place with two nodes
    if (cross(before, now) < -1e-9 * size * length(before)) return false;
    before = now;
  }
  return true;
}

}  // namespace

RevolvedSurface::RevolvedSurface(std::string name, Surface meridian, const RevolvedAxis& axis, bool beyond)
    : SpatialSurface(std::move(name)),
      meridian_(std::make_shared<const Surface>(std::move(meridian))),
      axis_(axis),
      down_(beyond ? 1.0 : -1.0),
      convex_(!beyond && bulges(*meridian_)) {}

AxisPlace RevolvedSurface::place_of(Vector3 at) const {
  const Vector3 from = at - axis_.origin;
  const double along = dot(from, axis_.along);
  const Vector3 away = from - along * axis_.along;
  return {along, length(away), away};
}

double RevolvedSurface::signed_distance(Vector3 from) const {
  const AxisPlace place = place_of(from);
  return meridian_->signed_distance({place.along, down_ * place.out});
}

SpatialFoot RevolvedSurface::foot(Vector3 from) const {
  const AxisPlace place = place_of(from);
  const SurfaceFoot found = meridian_->foot({place.along, down_ * place.out});
  const Vector2 way = meridian_->point(found.place).first;
  // On the axis all half planes are equivalent.
  const Vector3 beside = std::abs(axis_.along.x) < 0.9 ? Vector3{1.0, 0.0, 0.0} : Vector3{0.0, 1.0, 0.0};
  const Vector3 out = place.out > 0.0 ? (1.0 / place.out) * place.away : unit_of(cross(axis_.along, beside));
  return {axis_.origin + found.at.x * axis_.along + down_ * found.at.z * out, unit_of(down_ * way.x * out - way.z * axis_.along)};
}

std::unique_ptr<RayField> RevolvedSurface::field(const RayPath& path, std::vector<Point> sources, SimdLevel /*level*/) const {
  return make_revolved_field(path, std::move(sources), *this);
}

}  // namespace echoform
