// What an imaging plan asks of each stage.
#pragma once

#include "pipeline/imaging_plan.hpp"
#include "stages/analytic_signal/analytic_signal.hpp"
#include "stages/half_matrix/half_matrix.hpp"
#include "stages/scan_conversion/scan_conversion.hpp"
#include "stages/unpack/unpack.hpp"

namespace echoform {

[[nodiscard]] UnpackOptions unpack_options(const ImagingPlan& plan);
[[nodiscard]] HalfMatrixOptions half_matrix_options(const ImagingPlan& plan);
/// Plans with an accuracy of half_path_accuracy or more take the half path.
[[nodiscard]] AnalyticSignalOptions analytic_signal_options(const ImagingPlan& plan);
/// From the acoustic grid to the display grid, which is the acoustic grid where the plan names none.
[[nodiscard]] ScanConversionOptions scan_conversion_options(const ImagingPlan& plan);

}  // namespace echoform
