// What received each A-scan of a frame, in the part's coordinates: for methods that have no transmit leg.
#pragma once

#include <vector>

#include "acquisition/acquisition.hpp"
#include "base/geometry.hpp"

namespace echoform {

struct Detector {
  Point centre;
  Direction normal{0.0, 0.0, 1.0};  ///< of length 1, towards what it hears
  Direction across{1.0, 0.0, 0.0};  ///< of length 1, at right angles to it: along `width`
  Metres width;                     ///< 0 where unknown (a point)
  Metres length;                    ///< at right angles to both; 0 where unknown
  bool dead = false;

  constexpr auto operator<=>(const Detector&) const = default;
};

/// Of each row of a frame, in the order of FrameLayout: where its element stands at the position of its event. The width lies
/// along the probe's x_axis, so far as that is across the normal; along z where it is not, as in a ring in the plane of x and z.
/// Of an acquisition that has passed validate().
[[nodiscard]] std::vector<Detector> detectors_of(const Acquisition& acquisition);

}  // namespace echoform
