// What the simulated wave meets besides the reflectors: couplant, front surface and backwall, and which of its ways are
// simulated.
#pragma once

#include <cstddef>
#include <string>

#include "base/units.hpp"
#include "simulators/sampled_curve.hpp"

namespace echoform {

struct SimulatedScene {
  MetresPerSecond couplant;          ///< 0: elements on the part
  double couplant_density = 1000.0;  ///< kg/m^3
  double density = 2700.0;           ///< of the part, kg/m^3
  CurveShape surface;                ///< the part's front; none: the plane z = 0 where one is needed
  CurveShape backwall;               ///< none: nothing is reflected there
  std::string modes = "L";           ///< waves in the part: "L", "T" or both
  /// With a backwall: how often a way to a scatterer is reflected at most, at it first, then at the front surface from below.
  std::size_t skips = 1;
  bool wall_echoes = true;  ///< of the surface below a couplant, and of the backwall

  /// Straight longitudinal rays alone: what EchoModel simulates.
  [[nodiscard]] bool plain() const { return couplant.value == 0.0 && backwall.kind == CurveKind::none && modes == "L"; }
};

/// Where the probe is, as [probe] of the configuration has it: turned by `angle` from x towards z about the middle of the
/// aperture, which lies at (x, -stand_off).
struct ProbePlacement {
  Metres x;
  Metres stand_off;
  double angle = 0.0;  ///< degrees
};

}  // namespace echoform
