#include "stages/analytic_signal/analytic_signal.hpp"

namespace echoform {

AnalyticSignalOptions analytic_signal_options(const ImagingPlan& plan) {
  AnalyticSignalOptions options;
  options.half = plan.accuracy >= 1e-3;
  options.nearest = plan.interpolation == Interpolation::nearest;
  return options;
}

}  // namespace echoform
