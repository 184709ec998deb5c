// Turning and shifting a probe as a whole.
#pragma once

#include "acquisition/acquisition.hpp"
#include "base/geometry.hpp"

namespace echoform {

/// p -> pivot + R (p - pivot) + shift, R the turn about `axis` by `angle`, right-handed (Rodrigues' formula).
struct RigidMotion {
  Point pivot;
  Direction axis{0.0, 1.0, 0.0};  ///< of length 1
  double angle = 0.0;             ///< radians
  Point shift;

  [[nodiscard]] Point of(const Point& point) const;
  /// Moves a direction: it is rotated, not shifted.
  [[nodiscard]] Direction of(const Direction& direction) const;

  bool operator==(const RigidMotion&) const = default;
};

/// Every element's centre and normal; what has no direction stays.
[[nodiscard]] Probe moved(Probe probe, const RigidMotion& motion);

}  // namespace echoform
