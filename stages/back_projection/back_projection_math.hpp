// Geometry of a voxel and a detector, for one lane or many. The unit of length is a sample: the distance that sound travels
// in the coupling medium between two samples.
#pragma once

#include <cstdint>

#include "gpu/host_device.hpp"

namespace echoform {

/// A detector in samples from the grid's middle. The caller chooses the order of axes, which is the same everywhere.
struct FlatDetector {
  float place[3];
  float normal[3];
  float weight;
  std::uint32_t row;
};

/// An ellipsoid of another speed, in the same units and order of axes. (place - centre) * inverse_radius maps it to a ball
/// of radius 1.
struct FlatInclusion {
  float centre[3];
  float inverse_radius[3];
  float excess = 0.0F;  ///< c / c_inside - 1
};

/// The part of the straight path from a detector to a voxel that lies in a ball of radius 1 about the origin: the share of
/// the places s + t e, 0 <= t <= 1, with |s + t e|^2 <= 1. `ee`, `se` and `ss` are the scalar products of e and s.
ECHOFORM_HOST_DEVICE float part_inside(float ee, float se, float ss) {
  const float discriminant = se * se - ee * (ss - 1.0F);
  if (!(discriminant > 0.0F)) return 0.0F;
  const float root = __builtin_sqrtf(discriminant);
  const float first = (-se - root) / ee;
  const float last = (-se + root) / ee;
  const float from = first > 0.0F ? first : 0.0F;
  const float to = last < 1.0F ? last : 1.0F;
  return to > from ? to - from : 0.0F;
}

}  // namespace echoform
