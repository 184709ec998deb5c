// Checks whether a simulated scene is valid: the part of validate() for a configuration with a couplant, a backwall or shear
// waves.
#pragma once

#include <string_view>
#include <vector>

namespace echoform {

struct SimulatorConfiguration;

/// Phases of the cycle that frames will show; one where nothing moves.
[[nodiscard]] std::vector<double> phases_of(const SimulatorConfiguration& configuration);

/// Throws InputError (naming `where` and the key) for modes other than L and T, velocities and densities out of their ranges,
/// elements that do not lie above the surface or the backwall, and reflectors off the plane y = 0 or, in some frame of the
/// cycle, outside of the part.
void check_scene(const SimulatorConfiguration& configuration, std::string_view where);

}  // namespace echoform
