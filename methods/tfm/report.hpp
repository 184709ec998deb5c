// The figures of a plan.
#pragma once

#include "methods/setup_report.hpp"
#include "methods/tfm/plan.hpp"

namespace echoform {

/// Reports wavelengths, near field, grating lobes, pixels and samples of a plan by the formulas of
/// methods/tfm/setup_figures.hpp. Resolution, departures and unreached pixels follow from the plan's rays
/// (methods/point_spread.hpp, grating_lobes.hpp, reached.hpp), the array from array_shape.hpp, and warnings that images
/// have too from plan_warnings.hpp. Figures that need a number which is not stated, such as the centre frequency, are left
/// out with a warning.
[[nodiscard]] SetupReport report_plan(const ImagingPlan& plan);

}  // namespace echoform
