// Scans that lead all the way around: elements emit towards +z everywhere else, so a position beyond an eighth of a turn is
// imaged with the part turned back by quarters, which a grid is turned by exactly.
#pragma once

#include "acquisition/rigid_motion.hpp"
#include "base/grid.hpp"
#include "config/configuration.hpp"
#include "methods/scan_part.hpp"
#include "pipeline/scan.hpp"
#include "simulators/simulator_configuration.hpp"

namespace echoform {

/// Whether the probe may go all the way around: along a circle whose axis is along y, about a part that is the same after a
/// quarter turn: without surfaces, or with cylinders along y and spheres whose own axis the path's is, to 1 um. Of a scan
/// elsewhere, elements emit towards +z where they stand, or a position is refused.
[[nodiscard]] bool turns_around(const ImagingSettings& settings);

/// Whether the simulated source of that configuration has its part turned back, too: of a backwall that is a plane, and of
/// tissue, there is no such thing.
[[nodiscard]] bool source_turns(const ImagingSettings& settings, const SimulatorConfiguration& source);

/// Quarters by which the part is turned back where the probe has turned by `angle` (radians), 0 to 3: what is left of it is an
/// eighth of a turn at most.
[[nodiscard]] int quarters_of(double angle);
/// The motion as the part turned back by so many quarters sees it.
[[nodiscard]] RigidMotion turned_back(RigidMotion motion, int quarters);
/// A place of the part where it lies then. `motion` says the axis, which is along y.
[[nodiscard]] Point turned_back(const Point& place, const RigidMotion& motion, int quarters);

/// The grid of that part turned back, and where its pixels lie in the whole grid.
struct TurnedGrid {
  Grid grid;
  ScanPlaces places;
};
[[nodiscard]] TurnedGrid turned_back(const Grid& whole, const GridPart& part, const RigidMotion& motion, int quarters);

/// The reflectors where the part turned back has them.
[[nodiscard]] Phantom turned_back(Phantom part, const RigidMotion& motion, int quarters);
/// Each reflector turned back by itself to within an eighth of a turn, about the axis, of `home`, where surfaces are stated.
[[nodiscard]] Phantom folded(Phantom part, const RigidMotion& motion, const Point& home);

}  // namespace echoform
