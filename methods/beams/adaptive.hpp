// Adaptive weights as [beams] asks for them.
#pragma once

#include "config/configuration.hpp"
#include "methods/beams/plan.hpp"

namespace echoform {

/// Sets the axial window in ranges, and the band about twice the centre frequency. Throws InputError where the probe has no
/// centre frequency to count periods of, or the ranges lie too far apart for the band. Adds to the plan's notes.
void resolve_adaptive(const ImagingSettings& settings, BeamsPlan& plan, const LineRanges& ranges);

}  // namespace echoform
