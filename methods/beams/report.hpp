// What `echoform plan` reports about scan lines.
#pragma once

#include "methods/beams/plan.hpp"
#include "methods/setup_report.hpp"

namespace echoform {

/// Reports lines and ranges, the aperture, the resolution across and along the lines at the middle range, the number of
/// images a second that sound allows, and memory.
[[nodiscard]] SetupReport report_beams(const BeamsPlan& plan);

}  // namespace echoform
