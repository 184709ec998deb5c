// What `echoform plan` says of images of flow, of either method.
#pragma once

#include <string_view>

#include "methods/flow.hpp"
#include "methods/setup_report.hpp"

namespace echoform {

/// Ensembles, velocities that can be told, `along` "the lines" or "z", and what the wall filter leaves.
void report_flow(SetupReport& report, const DopplerPlan& doppler, std::string_view along);

}  // namespace echoform
