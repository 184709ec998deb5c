#include "stages/beamform/beamform_options.hpp"

#include <fmt/format.h>

#include "base/errors.hpp"

namespace echoform {
namespace {

void require_sources(const Leg* leg, std::size_t wanted, const std::string& view, std::string_view side) {
  const std::size_t found = leg != nullptr ? leg->sources() : 0;
  if (leg != nullptr && found == wanted) return;
  throw InputError(fmt::format("beamform stage, delay law {}", view), fmt::format("{} sources of the {} leg", found, side),
                   fmt::format("{}", wanted));
}

void require_within(double value, const Interval& range, std::string_view option) {
  if (range.holds(value)) return;
  throw InputError(fmt::format("beamform stage, {}", option), fmt::format("{}", value),
                   fmt::format("{} to {}", range.least, range.most));
}

}  // namespace

void validate(const BeamformOptions& options) {
  const Aperture& aperture = options.aperture;
  require_sources(options.law.transmit.get(), options.pairs.events, options.law.view, "transmit");
  require_sources(options.law.receive.get(), options.pairs.receivers, options.law.view, "receive");
  validate(options.pairs, "beamform stage,");
  if (options.pairs.summed && !options.alike_both_ways()) {
    throw InputError("beamform stage, pairs", "sums of both directions",
                     "each direction: the law or the weights tell (i, j) from (j, i)");
  }
  require_within(aperture.apodization.tukey_fraction, Apodization::tukey_fractions, "tukey fraction");
  require_within(aperture.apodization.angle_limit, Apodization::angle_limits, "angle limit");
  if (!aperture.event_weights.empty() && aperture.event_weights.size() != options.pairs.events) {
    throw InputError("beamform stage, aperture", fmt::format("{} weights of events", aperture.event_weights.size()),
                     fmt::format("{}, one an event", options.pairs.events));
  }
  for (const float weight : aperture.event_weights) {
    if (!std::isfinite(weight)) throw InputError("beamform stage, aperture", "a weight that is not finite", "finite weights");
  }
  if (aperture.apodization.trivial()) return;
  for (const auto& [side, sources] :
       {std::pair{BeamformSide::transmit, options.pairs.events}, std::pair{BeamformSide::receive, options.pairs.receivers}}) {
    for (std::size_t source = 0; source < sources; ++source) {
      if (side == BeamformSide::transmit && !aperture.event_weights.empty()) continue;
      if ((side == BeamformSide::receive || aperture.firing.empty() || source < aperture.firing.size()) &&
          aperture.element_of(side, source) < aperture.probe.elements.size()) {
        continue;
      }
      throw InputError("beamform stage, aperture", fmt::format("no element for source {}", source),
                       "one for every source of both legs, since there are weights");
    }
  }
}

double half_delay_offset(const BeamformOptions& options) {
  return 0.5 *
         ((options.time_offset - options.start_time).value * options.sample_rate.value - static_cast<double>(options.gate.first));
}

}  // namespace echoform
