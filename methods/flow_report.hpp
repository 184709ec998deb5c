// What `echoform plan` reports about images of flow, for both methods.
#pragma once

#include <string_view>

#include "methods/flow.hpp"
#include "methods/setup_report.hpp"

namespace echoform {

/// Reports ensembles, the velocities that can be measured along "the lines" or "z" (`along`), and what the wall filter
/// leaves.
void report_flow(SetupReport& report, const DopplerPlan& doppler, std::string_view along);

}  // namespace echoform
