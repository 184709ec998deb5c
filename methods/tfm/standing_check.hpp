// What can be said of a configuration before any data is there.
#pragma once

#include "config/configuration.hpp"

namespace echoform {

/// Senders state no velocities: throws InputError if a view needs one that neither the configuration nor `stated` has.
void check_velocities(const ImagingSettings& settings, const Material& stated);

/// The same, and that surfaces can be made, the delay law is known, takes each view, and that grids that are given run the right
/// way. What depends on the data (the default grid, gates, memory) is checked when a stream opens.
void check_without_data(const ImagingSettings& settings, const Material& stated);

}  // namespace echoform
