// The figures of a plan.
#pragma once

#include "methods/setup_report.hpp"
#include "methods/tfm/plan.hpp"

namespace echoform {

/// Wavelengths, near field, grating lobes, pixels and samples of a plan by the formulas of
/// methods/tfm/setup_figures.hpp; resolution, departures and what is not reached by the plan's rays
/// (methods/point_spread.hpp, grating_lobes.hpp, reached.hpp); the array by array_shape.hpp; warnings that images get too by
/// plan_warnings.hpp. What needs a number that nobody states, such as the centre frequency, is left out with a warning.
[[nodiscard]] SetupReport report_plan(const ImagingPlan& plan);

}  // namespace echoform
