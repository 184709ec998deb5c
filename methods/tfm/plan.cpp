#include "methods/tfm/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "acquisition/firings.hpp"
#include "acquisition/recorded_frames.hpp"
#include "base/errors.hpp"

namespace echoform {

bool ImagingPlan::reciprocal() const {
  return apodization.symmetric() && std::all_of(laws.begin(), laws.end(), [](const DelayLaw& law) { return law.reciprocal(); });
}

void ImagingPlan::take_display(const ImagingSettings& settings) {
  MethodPlan::take_display(settings);
  if (doppler) doppler->threshold = threshold_of(echoform::doppler(settings));
}

void validate(const ImagingPlan& plan, std::string_view where) {
  validate(plan.acquisition, {.frame_bytes = most_recorded_bytes}, where);
  validate(plan.grid, fmt::format("{}: [grid]", where));
  if (plan.display_grid) validate(*plan.display_grid, fmt::format("{}: [display]", where));
  if (plan.gate) {
    const std::size_t samples = plan.acquisition.samples;
    if (plan.gate->count < 2 || plan.gate->count > samples || plan.gate->first > samples - plan.gate->count) {
      throw InputError(fmt::format("{} gate", where), fmt::format("{} samples from {} on", plan.gate->count, plan.gate->first),
                       fmt::format("at least 2 within the {} of an A-scan", samples));
    }
    if (const std::size_t together = facts_of(plan.acquisition.encoding).together; plan.gate->first % together != 0) {
      throw InputError(fmt::format("{} gate", where), fmt::format("first sample {}", plan.gate->first),
                       fmt::format("a multiple of {}: so many samples are packed together", together));
    }
  }
  if (plan.laws.empty()) throw InputError(fmt::format("{}: [imaging] views", where), "none", "at least one");
  for (const PositionPlan& position : plan.positions) {
    validate(*position.plan, fmt::format("{}, position {}", where, position.position));
  }
  for (const DelayLaw& law : plan.laws) {
    if (!plan.positions.empty()) break;  // the plans of the positions have their own
    const std::size_t elements = plan.acquisition.elements();
    const bool waves = launches_waves(plan.acquisition);
    for (const auto& [leg, expected, what] :
         {std::tuple{law.transmit, waves ? plan.acquisition.event_count() : elements, waves ? "one an event" : "one an element"},
          std::tuple{law.receive, elements, "one an element"}}) {
      if (!leg || leg->sources() != expected) {
        throw InputError(fmt::format("{} delay law {}", where, law.view),
                         fmt::format("{} sources in a leg", leg ? leg->sources() : 0), fmt::format("{}, {}", expected, what));
      }
    }
  }
  const std::string in = fmt::format("{}:", where);
  require_range(in, "[imaging] accuracy", plan.accuracy, Interval{1e-6, 0.1});
  require_range(in, "[apodization] tukey_fraction", plan.apodization.tukey_fraction, Apodization::tukey_fractions);
  require_range(in, "[apodization] angle_limit", plan.apodization.angle_limit, Apodization::angle_limits);
  validate(plan.compression, fmt::format("{} [output]", in));
  require_range(in, "[display] cubic_alpha", plan.display.cubic_alpha, cubic_alphas);
  if (plan.apodization.directivity && plan.acquisition.probe.centre_frequency.value <= 0.0) {
    throw InputError(fmt::format("{} [apodization] directivity", in), "a probe without centre frequency",
                     "[probe] centre_frequency, which the directivity needs");
  }
}

}  // namespace echoform
