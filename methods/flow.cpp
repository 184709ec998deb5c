#include "methods/flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "base/errors.hpp"

namespace echoform {
namespace {

constexpr std::string_view events_alike = "transmit events that are alike";

/// The values of [doppler] as the stage's options.
WallFilterOptions wall_filter_of(const ImagingSettings& settings, std::size_t samples) {
  const DopplerSection& section = doppler(settings);
  WallFilterOptions options{section.wall_filter, samples, section.order, section.taps, section.components};
  const auto refuse = [&](std::string_view key, std::size_t found, std::size_t most) {
    throw InputError(settings.place(fmt::format("[doppler] {}", key)), fmt::format("{}", found),
                     fmt::format("at most {} for ensembles of {}", most, samples));
  };
  const bool of_order =
      section.wall_filter == WallFilterKind::regression || (section.wall_filter == WallFilterKind::fir && section.taps.empty());
  if (of_order && section.order + 2 > samples) refuse("order", section.order, samples - 2);
  if (section.wall_filter == WallFilterKind::fir && section.taps.size() >= samples)
    refuse("taps", section.taps.size(), samples - 1);
  if (!section.taps.empty() && std::ranges::all_of(section.taps, [](double tap) { return tap == 0.0; })) {
    throw InputError(settings.place("[doppler] taps"), "none but 0", "one at least that lets something through");
  }
  if (section.wall_filter == WallFilterKind::svd && section.components >= samples) {
    refuse("components", section.components, samples - 1);
  }
  validate(options);
  return options;
}

void find_pulse_repetition(const ImagingSettings& settings, const Acquisition& acquisition, DopplerPlan& plan) {
  const std::string key = settings.place("[doppler] pulse_repetition");
  plan.of_data = !doppler(settings).pulse_repetition;
  plan.pulse_repetition = acquisition.pulse_repetition;
  if (!(plan.pulse_repetition.value > 0.0)) {
    throw InputError(key, "none, and none that the data state",
                     "transmit events a second, by which flow is found (or 0, for images without flow)");
  }
  // Allows for rounding when events follow each other without a pause.
  constexpr double tolerance = 1e-6;
  const double duration = duration_of_event(acquisition).value;
  if (plan.pulse_repetition.value * duration <= 1.0 + tolerance) return;
  throw InputError(plan.of_data ? std::string("data: pulse repetition") : key,
                   fmt::format("{:g} Hz, an event each {:.4g} us, beside A-scans that end {:.4g} us after the pulse",
                               plan.pulse_repetition.value, 1e6 / plan.pulse_repetition.value, 1e6 * duration),
                   fmt::format("at most {:.4g} Hz: the transmit events of all ensembles, one after the other", 1.0 / duration));
}

}  // namespace

Ensembles find_ensembles(const Acquisition& acquisition, std::string_view where, const EnsembleSizes& sizes) {
  Ensembles found;
  std::vector<std::vector<std::uint32_t>>& all = found.events;
  for (std::uint32_t event = 0; event < acquisition.events.size(); ++event) {
    const auto alike = [&](const std::vector<std::uint32_t>& ensemble) {
      return acquisition.events[ensemble.front()] == acquisition.events[event];
    };
    // The match is mostly the previous event.
    const auto at = std::find_if(all.rbegin(), all.rend(), alike);
    if (at == all.rend()) {
      all.push_back({event});
    } else {
      at->push_back(event);
    }
  }
  const std::string place = fmt::format("{}: {}", where, events_alike);
  const std::size_t samples = all.empty() ? 1 : all.front().size();
  if (samples < sizes.least || samples > sizes.most) {
    const std::string many =
        sizes.least == sizes.most ? fmt::format("{}", sizes.least) : fmt::format("{} to {}", sizes.least, sizes.most);
    throw InputError(place, fmt::format("{} of event 0", samples), fmt::format("{}, {}", many, sizes.what));
  }
  found.samples = samples;
  found.apart = all.front()[1] - all.front()[0];
  for (const std::vector<std::uint32_t>& ensemble : all) {
    if (ensemble.size() != samples) {
      throw InputError(
          place,
          fmt::format("{} of event {} and {} of event {}", samples, all.front().front(), ensemble.size(), ensemble.front()),
          "as many of each");
    }
    for (std::size_t n = 1; n < samples; ++n) {
      if (ensemble[n] - ensemble[n - 1] == found.apart) continue;
      throw InputError(place, fmt::format("events {} and {}", ensemble[n - 1], ensemble[n]),
                       fmt::format("ones that are {} apart, as others are", found.apart));
    }
  }
  return found;
}

bool wants_flow(const ImagingSettings& settings) {
  const DopplerSection& section = doppler(settings);
  return section.pulse_repetition ? section.pulse_repetition->value > 0.0 : section.stated;
}

Seconds duration_of_event(const Acquisition& acquisition) {
  const Seconds recorded(static_cast<double>(acquisition.samples - 1) / acquisition.sample_rate.value);
  return std::max(recorded, recorded + acquisition.start_time - acquisition.time_offset);
}

DopplerPlan find_doppler(const ImagingSettings& settings, const Acquisition& acquisition, MetresPerSecond velocity) {
  const DopplerSection& section = doppler(settings);
  DopplerPlan plan;
  plan.ensembles = find_ensembles(acquisition, settings.name());
  plan.wall_filter = wall_filter_of(settings, plan.ensembles.samples);
  find_pulse_repetition(settings, acquisition, plan);
  plan.repetition = plan.pulse_repetition / static_cast<double>(plan.ensembles.apart);
  plan.frequency = section.frequency.value_or(acquisition.probe.centre_frequency);
  if (!(plan.frequency.value > 0.0)) {
    throw InputError(settings.place("[doppler] frequency"), "none", "that of the echoes, for the probe states none");
  }
  plan.nyquist = MetresPerSecond(velocity.value * plan.repetition.value / (4.0 * plan.frequency.value));
  plan.autocorrelation.ensemble = filtered_ensemble(plan.wall_filter);
  plan.threshold = threshold_of(section);
  return plan;
}

std::vector<FlowImage> flow_images(const DopplerPlan& plan) {
  const double nyquist = plan.nyquist.value;
  OutputDescription velocity;
  velocity.view = velocity_image;
  velocity.pixels = {"velocity", "m/s"};
  velocity.scale = {ScaleKind::symmetric, nyquist};
  velocity.limit = nyquist;
  OutputDescription power;
  power.view = power_image;
  power.pixels = {"power", ""};
  power.scale = {ScaleKind::power_decibels};
  OutputDescription variance;
  variance.view = variance_image;
  variance.pixels = {"variance", "m^2/s^2"};
  // The end of the scale is the variance without correlation between successive samples (stages/flow/flow.hpp).
  variance.scale = {ScaleKind::from_zero, 2.0 * std::pow(nyquist / std::numbers::pi, 2)};
  return {
      {FlowKind::velocity, std::move(velocity)}, {FlowKind::power, std::move(power)}, {FlowKind::variance, std::move(variance)}};
}

std::size_t half_window_of(const DopplerSection& section, const DopplerPlan& plan, MetresPerSecond velocity, Metres spacing) {
  // Sound travels a step along the line there and back.
  const double rate = 0.5 * velocity.value / spacing.value;
  const double ranges = 0.5 * section.window * rate / plan.frequency.value;
  return static_cast<std::size_t>(
      std::clamp(std::round(ranges), 0.0, static_cast<double>(AutocorrelationOptions::most_half_window)));
}

double threshold_of(const DopplerSection& section) {
  return std::pow(10.0, section.threshold_db / 10.0);
}

}  // namespace echoform
