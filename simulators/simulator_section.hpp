// What [simulator] says of the source, its probe and the part.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "simulators/simulator_configuration.hpp"

namespace echoform {

/// The simulated source. Where points, holes, bodies or backwall are given, they alone are the part; else it is the demo's, so
/// far as it lies between [surface] and [backwall].
/// Found by section<SimulatorSection>(configuration).
struct SimulatorSection {
  SimulatorConfiguration source;  ///< its scene and placement follow from other sections
  std::string delays;             ///< files of its laws; empty: none
  std::string weights;
  std::optional<MetresPerSecond> longitudinal_velocity;  ///< absent: that of [material]
  std::optional<MetresPerSecond> shear_velocity;         ///< likewise
  std::optional<std::vector<std::string>> modes;         ///< absent: L; with a couplant or [backwall] L and T
  std::optional<std::size_t> skips;                      ///< absent: 2 if a view skips to and fro on one side, else 1
  std::optional<std::vector<PointScatterer>> points;
  std::optional<std::vector<SideDrilledHole>> holes;
  std::optional<std::vector<Body>> spheres;
  std::optional<std::vector<Body>> cylinders;
  std::optional<std::vector<Body>> discs;
  std::optional<std::vector<Body>> plates;
  std::optional<Metres> backwall;
};

}  // namespace echoform
