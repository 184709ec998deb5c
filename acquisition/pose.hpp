// Where a probe stands in the part.
#pragma once

#include "base/geometry.hpp"

namespace echoform {

/// A pose of a probe: the origin of its coordinates and the directions of its x and y axes, in the part's coordinates. The z
/// axis is x cross y.
struct Pose {
  Point origin;
  Direction x{1.0, 0.0, 0.0};  ///< of length 1
  Direction y{0.0, 1.0, 0.0};  ///< of length 1, perpendicular to x

  constexpr auto operator<=>(const Pose&) const = default;
};

}  // namespace echoform
