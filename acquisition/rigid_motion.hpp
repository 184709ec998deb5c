// Rotation and translation of a probe as a whole.
#pragma once

#include "acquisition/acquisition.hpp"
#include "base/geometry.hpp"

namespace echoform {

/// The motion p -> pivot + R (p - pivot) + shift, where R is the right-handed rotation about `axis` by `angle` (Rodrigues'
/// formula).
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

/// The probe with the centre and the normal of every element moved; all else stays.
[[nodiscard]] Probe moved(Probe probe, const RigidMotion& motion);

}  // namespace echoform
