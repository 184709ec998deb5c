// Whether the simulated source can make sound of light as it is asked to, and the acquisition that it then states.
#pragma once

#include <string_view>

#include "acquisition/acquisition.hpp"

namespace echoform {

struct SimulatorConfiguration;

/// Checks a configuration that has `sound`. Throws InputError (naming `where` and the key) for detectors and sources that
/// their validate() refuses, for settings that only a transmitting source has, for a ball that contains part of a detector,
/// and for a ball whose sound reaches no detector within the record.
void check_sound(const SimulatorConfiguration& configuration, std::string_view where);

/// What the frames are. Of a configuration that has passed check_sound().
[[nodiscard]] Acquisition acquisition_of_sound(const SimulatorConfiguration& configuration);

}  // namespace echoform
