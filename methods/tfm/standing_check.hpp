// Checks of a configuration before any data is there.
#pragma once

#include "config/configuration.hpp"

namespace echoform {

/// Throws InputError if a view needs a velocity that neither the configuration nor `stated` has, since senders state no
/// velocities.
void check_velocities(const ImagingSettings& settings, const Material& stated);

/// Checks the same. It also checks that surfaces can be made, that the delay law is known and accepts each view, and that
/// grids that are given run in the right direction. What depends on the data (the default grid, gates, memory) is checked
/// when a stream opens.
void check_without_data(const ImagingSettings& settings, const Material& stated);

}  // namespace echoform
