// What a voxel and a detector have to do with each other, for one lane or many: lengths in samples, the way that sound goes in
// the coupling medium between two samples.
#pragma once

#include <cstdint>

#include "gpu/host_device.hpp"

namespace echoform {

/// A detector in samples from the grid's middle. Axes are in an order of the caller's, the same everywhere.
struct FlatDetector {
  float place[3];
  float normal[3];
  float weight;
  std::uint32_t row;
};

/// An ellipsoid of another speed, in the same units and order of axes: places become those of a ball of radius 1 by (place -
/// centre) * inverse_radius.
struct FlatInclusion {
  float centre[3];
  float inverse_radius[3];
  float excess = 0.0F;  ///< c / c_inside - 1
};

/// Which part of the straight way from a detector to a voxel lies in a ball of radius 1 about the origin: of the places s + t e,
/// 0
/// <= t <= 1, those with |s + t e|^2 <= 1. `ee`, `se` and `ss` are the products of e and s.
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
