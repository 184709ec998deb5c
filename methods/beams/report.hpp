// What `echoform plan` says of scan lines.
#pragma once

#include "methods/beams/plan.hpp"
#include "methods/setup_report.hpp"

namespace echoform {

/// Lines and ranges, the aperture, resolution across and along the lines at the middle range, how many images a second sound
/// allows, and memory.
[[nodiscard]] SetupReport report_beams(const BeamsPlan& plan);

}  // namespace echoform
