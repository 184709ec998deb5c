#include "methods/tfm/stage_options.hpp"

namespace echoform {

UnpackOptions unpack_options(const ImagingPlan& plan) {
  return {plan.amplitude_scale()};
}

HalfMatrixOptions half_matrix_options(const ImagingPlan& plan) {
  HalfMatrixOptions options;
  options.elements = plan.acquisition.elements();
  options.reciprocal = plan.reciprocal();
  options.sample_scale = plan.amplitude_scale();
  for (std::size_t i = 0; i < options.elements; ++i) {
    if (plan.acquisition.probe.elements[i].dead) options.dead.push_back(i);
  }
  return options;
}

AnalyticSignalOptions analytic_signal_options(const ImagingPlan& plan) {
  AnalyticSignalOptions options;
  options.half = plan.accuracy >= half_path_accuracy;
  options.nearest = plan.interpolation == Interpolation::nearest;
  return options;
}

ScanConversionOptions scan_conversion_options(const ImagingPlan& plan) {
  return {plan.grid, plan.display_grid.value_or(plan.grid), plan.scan_interpolation, plan.cubic_alpha};
}

}  // namespace echoform
