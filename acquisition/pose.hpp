// Where a probe stands in the part.
#pragma once

#include "base/geometry.hpp"

namespace echoform {

/// A place of a probe: where the origin of its coordinates lies in the part's, and which way its x and y axes point there. The
/// z axis is x cross y.
struct Pose {
  Point origin;
  Direction x{1.0, 0.0, 0.0};  ///< of length 1
  Direction y{0.0, 1.0, 0.0};  ///< of length 1, across x

  constexpr auto operator<=>(const Pose&) const = default;
};

}  // namespace echoform
