// Scans that lead all the way around the part. Everywhere else elements emit towards +z. So a position beyond an eighth of
// a turn is imaged with the part rotated back by quarter turns, by which a grid can be rotated exactly.
#pragma once

#include "acquisition/rigid_motion.hpp"
#include "base/grid.hpp"
#include "config/configuration.hpp"
#include "methods/scan_part.hpp"
#include "pipeline/scan.hpp"
#include "simulators/simulator_configuration.hpp"

namespace echoform {

/// Whether the probe may go all the way around. It may along a circle whose axis is along y, about a part that is the same
/// after a quarter turn: a part without surfaces, or with cylinders along y and spheres whose own axis is that of the path,
/// to 1 um. In other scans, elements emit towards +z where they are, or a position is refused.
[[nodiscard]] bool turns_around(const ImagingSettings& settings);

/// Whether the simulated source of that configuration has its part rotated back too. Plane backwalls, bodies and tissue
/// cannot be rotated back, so a source with any of them has not.
[[nodiscard]] bool source_turns(const ImagingSettings& settings, const SimulatorConfiguration& source);

/// The number of quarter turns, 0 to 3, by which the part is rotated back where the probe has rotated by `angle` (radians).
/// At most an eighth of a turn is left.
[[nodiscard]] int quarters_of(double angle);
/// The motion relative to the part that is rotated back by `quarters` quarter turns.
[[nodiscard]] RigidMotion turned_back(RigidMotion motion, int quarters);
/// The place of a point of the part after that rotation. `motion` states the axis, which is along y.
[[nodiscard]] Point turned_back(const Point& place, const RigidMotion& motion, int quarters);

/// The grid of that part rotated back, and where its pixels lie in the whole grid.
struct TurnedGrid {
  Grid grid;
  ScanPlaces places;
};
[[nodiscard]] TurnedGrid turned_back(const Grid& whole, const GridPart& part, const RigidMotion& motion, int quarters);

/// The reflectors of the part that is rotated back.
[[nodiscard]] Phantom turned_back(Phantom part, const RigidMotion& motion, int quarters);
/// Each reflector rotated back by itself, by quarter turns about the axis, to within an eighth of a turn of `home`: the place
/// of the probe where surfaces are stated.
[[nodiscard]] Phantom folded(Phantom part, const RigidMotion& motion, const Point& home);

}  // namespace echoform
