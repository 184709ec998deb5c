#include "methods/beams/ensembles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/errors.hpp"

namespace echoform {
namespace {

constexpr std::string_view events_alike = "transmit events that are alike";

/// [doppler] in the words of the stage's options.
WallFilterOptions wall_filter_of(const Configuration& configuration, std::size_t samples) {
  const DopplerSection& section = doppler(configuration);
  WallFilterOptions options{section.wall_filter, samples, section.order, section.taps, section.components};
  const auto refuse = [&](std::string_view key, std::size_t found, std::size_t most) {
    throw InputError(configuration.place(fmt::format("[doppler] {}", key)), fmt::format("{}", found),
                     fmt::format("at most {} for ensembles of {}", most, samples));
  };
  const bool of_order =
      section.wall_filter == WallFilterKind::regression || (section.wall_filter == WallFilterKind::fir && section.taps.empty());
  if (of_order && section.order + 2 > samples) refuse("order", section.order, samples - 2);
  if (section.wall_filter == WallFilterKind::fir && section.taps.size() >= samples)
    refuse("taps", section.taps.size(), samples - 1);
  if (section.wall_filter == WallFilterKind::svd && section.components >= samples) {
    refuse("components", section.components, samples - 1);
  }
  validate(options);
  return options;
}

/// The table of one sample: `blend`, or, where there is none, lines as they are formed.
LineBlendTable table_of_sample(const std::shared_ptr<const LineBlendTable>& blend, std::size_t lines, std::size_t ranges) {
  if (blend != nullptr) return *blend;
  LineBlendTable one;
  one.ranges = ranges;
  one.weights.assign(ranges, 1.0F);
  for (std::uint32_t line = 0; line < lines; ++line) one.lines.push_back({{line, 0}});
  return one;
}

}  // namespace

Ensembles find_ensembles(const Acquisition& acquisition, std::string_view where, const EnsembleSizes& sizes) {
  Ensembles found;
  std::vector<std::vector<std::uint32_t>>& all = found.events;
  for (std::uint32_t event = 0; event < acquisition.events.size(); ++event) {
    const auto alike = [&](const std::vector<std::uint32_t>& ensemble) {
      return acquisition.events[ensemble.front()] == acquisition.events[event];
    };
    // Mostly the one of the event before.
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

std::optional<DopplerPlan> resolve_doppler(const Configuration& configuration, const Acquisition& acquisition,
                                           MetresPerSecond velocity) {
  if (!doppler(configuration).pulse_repetition) return std::nullopt;
  if (beams(configuration).adaptive.kind != "none") {
    throw InputError(configuration.place("[beams] adaptive"),
                     fmt::format("\"{}\" with [doppler] pulse_repetition", beams(configuration).adaptive.kind),
                     "no adaptive weights: they change from sample to sample of an ensemble");
  }
  return find_doppler(configuration, acquisition, velocity);
}

DopplerPlan find_doppler(const Configuration& configuration, const Acquisition& acquisition, MetresPerSecond velocity) {
  const DopplerSection& section = doppler(configuration);
  DopplerPlan plan;
  plan.ensembles = find_ensembles(acquisition, configuration.name());
  plan.wall_filter = wall_filter_of(configuration, plan.ensembles.samples);
  plan.repetition = section.pulse_repetition.value() / static_cast<double>(plan.ensembles.apart);
  plan.frequency = section.frequency.value_or(acquisition.probe.centre_frequency);
  if (!(plan.frequency.value > 0.0)) {
    throw InputError(configuration.place("[doppler] frequency"), "none", "that of the echoes, for the probe states none");
  }
  plan.nyquist = MetresPerSecond(velocity.value * plan.repetition.value / (4.0 * plan.frequency.value));
  plan.autocorrelation.ensemble = filtered_ensemble(plan.wall_filter);
  plan.threshold = threshold_of(section);
  return plan;
}

std::size_t half_window_of(const DopplerSection& section, const DopplerPlan& plan, MetresPerSecond velocity, Metres spacing) {
  // A step along the line is one there and back.
  const double rate = 0.5 * velocity.value / spacing.value;
  const double ranges = 0.5 * section.window * rate / plan.frequency.value;
  return static_cast<std::size_t>(
      std::clamp(std::round(ranges), 0.0, static_cast<double>(AutocorrelationOptions::most_half_window)));
}

double threshold_of(const DopplerSection& section) {
  return std::pow(10.0, section.threshold_db / 10.0);
}

std::vector<ImageLine> repeat_lines(const std::vector<ImageLine>& lines, const Ensembles& ensembles) {
  std::vector<ImageLine> all;
  for (const ImageLine& line : lines) {
    const auto of_line = [&](const std::vector<std::uint32_t>& events) { return events.front() == line.event; };
    for (const std::uint32_t event : *std::ranges::find_if(ensembles.events, of_line)) {
      all.push_back(line);
      all.back().event = event;
    }
  }
  return all;
}

void add_tables(DopplerPlan& plan, const std::shared_ptr<const LineBlendTable>& blend, std::size_t lines, std::size_t ranges) {
  const LineBlendTable one = table_of_sample(blend, lines, ranges);
  const auto count = static_cast<std::uint32_t>(plan.ensembles.samples);
  auto samples = std::make_shared<LineBlendTable>();
  auto mean = std::make_shared<LineBlendTable>();
  samples->ranges = ranges;
  samples->weights = one.weights;
  mean->ranges = ranges;
  for (const float weight : one.weights) mean->weights.push_back(weight / static_cast<float>(count));
  for (const std::vector<BlendTerm>& terms : one.lines) {
    std::vector<BlendTerm>& all = mean->lines.emplace_back();
    for (std::uint32_t n = 0; n < count; ++n) {
      std::vector<BlendTerm>& of_sample = samples->lines.emplace_back();
      for (const BlendTerm& term : terms) {
        of_sample.push_back({term.row * count + n, term.weights});
        all.push_back(of_sample.back());
      }
    }
  }
  plan.mean = std::move(mean);
  if (blend != nullptr) plan.samples = std::move(samples);
}

std::optional<PulsePlan> resolve_pulses(const Configuration& configuration, const Acquisition& acquisition) {
  PulsePlan plan;
  plan.weights = beams(configuration).pulse_weights;
  if (plan.weights.empty()) return std::nullopt;
  const std::string key = configuration.place("[beams] pulse_weights");
  if (plan.weights.size() < 2) throw InputError(key, "one", "2 or more, one for each sounding of a beam, or none");
  if (std::ranges::find(plan.weights, 0.0) != plan.weights.end()) {
    throw InputError(key, "0", "weights other than 0: what counts for nothing need not be fired");
  }
  if (doppler(configuration).pulse_repetition) {
    throw InputError(key, "some with [doppler] pulse_repetition", "one of both: they tell events that are alike another meaning");
  }
  if (beams(configuration).adaptive.kind != "none") {
    throw InputError(configuration.place("[beams] adaptive"),
                     fmt::format("\"{}\" with pulse_weights", beams(configuration).adaptive.kind),
                     "no adaptive weights: they differ from sounding to sounding, and nothing would cancel");
  }
  plan.ensembles = find_ensembles(acquisition, configuration.name(),
                                  {plan.weights.size(), plan.weights.size(), "one for each of [beams] pulse_weights"});
  return plan;
}

void add_tables(PulsePlan& plan, const std::shared_ptr<const LineBlendTable>& blend, std::size_t lines, std::size_t ranges) {
  const LineBlendTable one = table_of_sample(blend, lines, ranges);
  const auto count = static_cast<std::uint32_t>(plan.weights.size());
  const auto tables = static_cast<std::uint32_t>(one.weights.size() / ranges);
  auto sum = std::make_shared<LineBlendTable>();
  sum->ranges = ranges;
  for (const double weight : plan.weights) {
    for (const float share : one.weights) sum->weights.push_back(static_cast<float>(weight) * share);
  }
  for (const std::vector<BlendTerm>& terms : one.lines) {
    std::vector<BlendTerm>& all = sum->lines.emplace_back();
    // Soundings of one line behind each other: what cancels leaves the rounding of its own sum alone.
    for (const BlendTerm& term : terms) {
      for (std::uint32_t n = 0; n < count; ++n) all.push_back({term.row * count + n, n * tables + term.weights});
    }
  }
  plan.sum = std::move(sum);
}

}  // namespace echoform
