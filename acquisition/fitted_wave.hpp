// The wave that a set of delays makes: which way it goes, and how it is curved.
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

/// A spherical wave about the aperture's centre, going along `direction`.
struct FittedWave {
  Direction direction;  ///< of unit length, z > 0
  double curvature =
      0.0;           ///< 1 / m: above 0 it converges that far ahead, below 0 it comes from that far behind, 0 is a plane wave
  Seconds residual;  ///< by which delays are off at most
};

/// By least squares (Gauss and Newton) over delay at the centre, direction and curvature: element e fires earlier by
/// (sqrt(1 - 2 k e.u + k^2 e^2) - 1) / (k c), u the direction, k the curvature and c the `velocity`: foci, virtual sources
/// and plane waves are one family. A wave of a row of elements goes within the plane of row and z. Nothing without places
/// beside the centre, and where the steps find no end.
[[nodiscard]] std::optional<FittedWave> fit_wave(std::span<const DelayedPlace> places, MetresPerSecond velocity);

}  // namespace echoform
