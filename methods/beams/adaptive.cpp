#include "methods/beams/adaptive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/errors.hpp"
#include "methods/filter_settings.hpp"
#include "stages/adaptive_weights/adaptive_weights.hpp"

namespace echoform {

void resolve_adaptive(const ImagingSettings& settings, BeamsPlan& plan, const LineRanges& ranges) {
  AdaptiveOptions& options = plan.section.adaptive;
  const AdaptiveKind& kind = adaptive_kind(options.kind, settings.place("[beams] adaptive"));
  const Probe& probe = plan.acquisition.probe;
  const double f0 = probe.centre_frequency.value;
  // Sound travels a step along the line there and back.
  const double rate = 0.5 * plan.velocity.value / ranges.spacing.value;
  const double periods = kind.uses_window ? plan.section.adaptive_window.value_or(kind.usual_window) : 0.0;
  const bool doubled = kind.result == AdaptiveResult::doubled;
  if ((periods > 0.0 || doubled) && !(f0 > 0.0)) {
    throw InputError(settings.place("[probe] centre_frequency"), "none",
                     fmt::format("the probe's, for [beams] adaptive = \"{}\"", kind.name));
  }
  options.half_window = periods > 0.0
                            ? static_cast<std::size_t>(std::clamp<long>(std::lround(0.5 * periods * rate / f0), 0,
                                                                        static_cast<long>(AdaptiveOptions::most_half_window)))
                            : 0;
  plan.line_filter = {};
  if (!doubled) return;
  const double width = probe.bandwidth.value > 0.0 ? probe.bandwidth.value : usual_bandwidth * f0;
  FilterOptions band;
  band.kind = FilterKind::band;
  band.sample_rate = Hertz(rate);
  band.low = Hertz(std::max(f0, 2.0 * f0 - width));
  band.high = Hertz(std::min(3.0 * f0, 2.0 * f0 + width));
  band.skirt = usual_skirt(band.low, band.high);
  if (!(band.high.value < 0.5 * rate)) {
    const double extent = ranges.spacing.value * static_cast<double>(ranges.count - 1);
    throw InputError(
        settings.place("[beams] ranges"), fmt::format("{} of them", ranges.count),
        fmt::format("{:.0f} or more, so that {} finds the band about twice the centre frequency, up to {:.4g} MHz",
                    std::ceil(4.0 * band.high.value * extent / plan.velocity.value) + 2.0, kind.name, 1e-6 * band.high.value));
  }
  plan.line_filter = band;
  plan.notes.push_back(
      fmt::format("[beams] adaptive = \"{}\": lines pass from {:.4g} to {:.4g} MHz, about twice the centre frequency", kind.name,
                  1e-6 * band.low.value, 1e-6 * band.high.value));
}

}  // namespace echoform
