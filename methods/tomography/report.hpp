// The figures of a tomograph's setup.
#pragma once

#include "methods/setup_report.hpp"
#include "methods/tomography/plan.hpp"

namespace echoform {

[[nodiscard]] SetupReport report_tomography(const TomographyPlan& plan);

}  // namespace echoform
