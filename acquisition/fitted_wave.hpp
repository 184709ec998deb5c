// The wave that a set of delays makes: its direction and its curvature.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/geometry.hpp"
#include "base/units.hpp"

namespace echoform {

/// An element that fires at `delay` seconds, at `from_centre` metres from the aperture's centre.
struct DelayedPlace {
  Direction from_centre;
  double delay = 0.0;
};

/// A spherical wave through the aperture's centre, which propagates along `direction`.
struct FittedWave {
  Direction direction;  ///< of unit length, z > 0
  double curvature =
      0.0;           ///< 1 / m: above 0 it converges that far ahead, below 0 it comes from that far behind, 0 is a plane wave
  Seconds residual;  ///< maximum deviation of the delays from the wave's
};

/// Fits a wave to `places` by least squares (Gauss-Newton) over the delay at the centre, the direction and the curvature.
/// Element e fires earlier by (sqrt(1 - 2 k e.u + k^2 e^2) - 1) / (k c), where u is the direction, k the curvature and c the
/// `velocity`. Foci, virtual sources and plane waves are one family in this form. The wave of a row of elements propagates
/// within the plane of the row and z. The result is empty if all places are at the centre, or if the iteration does not
/// converge.
[[nodiscard]] std::optional<FittedWave> fit_wave(std::span<const DelayedPlace> places, MetresPerSecond velocity);

}  // namespace echoform
