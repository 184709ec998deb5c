#include "methods/tfm/adaptive_pixels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/errors.hpp"
#include "methods/tfm/section.hpp"

namespace echoform {
namespace {

/// The velocity of the mode of a leg next to the pixel, from a view's name.
MetresPerSecond velocity_of_leg(const ImagingPlan& plan, char mode) {
  const Material& material = plan.material;
  const bool shear = mode == 'T' && material.shear_velocity.value > 0.0;
  return shear ? material.shear_velocity : material.longitudinal_velocity;
}

}  // namespace

bool weighs_adaptively(const ImagingPlan& plan) {
  return plan.adaptive.kind != AdaptiveOptions().kind;
}

AdaptiveOptions resolve_adaptive_pixels(const ImagingSettings& settings, const ImagingPlan& plan) {
  AdaptiveOptions options = tfm(settings).adaptive;
  const std::string where = settings.place("[imaging] adaptive");
  const AdaptiveKind& kind = adaptive_kind(options.kind, where);
  if (kind.sums_of == ChannelSums::none) return options;
  if (!plan.acquisition.positions.empty()) {
    throw InputError(where, fmt::format("\"{}\" with several positions of the probe within a frame", kind.name),
                     "frames of one position");
  }
  const double periods = kind.uses_window ? tfm(settings).adaptive_window.value_or(kind.usual_window) : 0.0;
  if (!(periods > 0.0) || plan.grid.z.count < 2) return options;
  const double f0 = plan.acquisition.probe.centre_frequency.value;
  if (!(f0 > 0.0)) {
    throw InputError(settings.place("[probe] centre_frequency"), "none",
                     fmt::format("the probe's, for [imaging] adaptive = \"{}\"", kind.name));
  }
  const std::string& view = plan.laws.front().view;
  const double slowness = 1.0 / velocity_of_leg(plan, view.front()).value + 1.0 / velocity_of_leg(plan, view.back()).value;
  const double pixels = periods / (f0 * slowness) / std::abs(plan.grid.z.spacing().value);
  options.half_window =
      static_cast<std::size_t>(std::clamp(std::round(0.5 * pixels), 0.0, static_cast<double>(AdaptiveOptions::most_half_window)));
  return options;
}

}  // namespace echoform
