// Whether the simulated source can make sound of light as it is asked to, and the acquisition that it then states.
#pragma once

#include <string_view>

#include "acquisition/acquisition.hpp"

namespace echoform {

struct SimulatorConfiguration;

/// Of a configuration with `sound`. Throws InputError (naming `where` and the key) for what validate() of its detectors and
/// sources refuses, settings that only a source has that transmits, a ball that holds a part of a detector, and one whose sound
/// reaches none within the record.
void check_sound(const SimulatorConfiguration& configuration, std::string_view where);

/// What the frames are. Of a configuration that has passed check_sound().
[[nodiscard]] Acquisition acquisition_of_sound(const SimulatorConfiguration& configuration);

}  // namespace echoform
