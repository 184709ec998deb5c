// The simulated source of a configuration: echoes from the scene that the method images.
#pragma once

#include "config/configuration.hpp"
#include "simulators/fmc_simulator.hpp"

namespace echoform {

/// The simulated source that [simulator] describes, checked, in the scene of [couplant], [surface], [backwall] and [probe]
/// stand_off, angle and x: one file serves the source and the server. The part moves with the seed unless its reflectors are
/// given. Throws InputError (one line) for what make_scene() and the simulator refuse, and kinds of surfaces that it does not
/// know.
[[nodiscard]] SimulatorConfiguration simulator_configuration(const Configuration& configuration);

}  // namespace echoform
