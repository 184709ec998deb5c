// The detector that received each A-scan of a frame, in the part's coordinates: for methods that have no transmit leg.
#pragma once

#include <vector>

#include "acquisition/acquisition.hpp"
#include "base/geometry.hpp"

namespace echoform {

struct Detector {
  Point centre;
  Direction normal{0.0, 0.0, 1.0};  ///< unit vector towards the sources that it receives
  Direction across{1.0, 0.0, 0.0};  ///< unit vector perpendicular to the normal, along `width`
  Metres width;                     ///< 0 where unknown (a point)
  Metres length;                    ///< perpendicular to both; 0 where unknown
  bool dead = false;

  constexpr auto operator<=>(const Detector&) const = default;
};

/// The detector of each row of a frame, in the order of FrameLayout: the row's element, placed at the position of the row's
/// event. The detector's width lies along the part of the probe's x_axis that is perpendicular to the normal. If the normal
/// lies along x_axis, as it can in a ring in the plane of x and z, the width lies along z. `acquisition` has passed
/// validate().
[[nodiscard]] std::vector<Detector> detectors_of(const Acquisition& acquisition);

}  // namespace echoform
