#include "acquisition/rigid_motion.hpp"

#include <cmath>

#include "base/directions.hpp"

namespace echoform {

Direction RigidMotion::of(const Direction& direction) const {
  if (angle == 0.0) return direction;
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  const double along = (1.0 - c) * dot(axis, direction);
  const Direction turned = cross(axis, direction);
  return {c * direction.x + s * turned.x + along * axis.x, c * direction.y + s * turned.y + along * axis.y,
          c * direction.z + s * turned.z + along * axis.z};
}

Point RigidMotion::of(const Point& point) const {
  if (angle == 0.0) return {point.x + shift.x, point.y + shift.y, point.z + shift.z};
  const Direction turned = of(between(pivot, point));
  return {pivot.x + Metres(turned.x) + shift.x, pivot.y + Metres(turned.y) + shift.y, pivot.z + Metres(turned.z) + shift.z};
}

Probe moved(Probe probe, const RigidMotion& motion) {
  for (Element& element : probe.elements) {
    element.centre = motion.of(element.centre);
    element.normal = motion.of(element.normal);
  }
  return probe;
}

}  // namespace echoform
