// The simulated source of optoacoustic methods: sound that light makes, and the detectors that receive it.
#pragma once

#include "config/configuration.hpp"
#include "simulators/fmc_simulator.hpp"

namespace echoform {

/// The source that [detectors] and [simulator] balls, blood_vessels and the keys about them describe, checked, in a medium of
/// [simulator] or [material] longitudinal_velocity; [acquisition] positions move all detectors but an arc, which has its own.
/// Throws InputError (one line) for what check_sound() refuses, if there is no velocity, for a file of haemoglobin that cannot be
/// read, and for sections that describe echoes: [couplant], [surface], [backwall], [probe] stand_off, angle and x.
[[nodiscard]] SimulatorConfiguration simulated_sound(const Configuration& configuration);

}  // namespace echoform
