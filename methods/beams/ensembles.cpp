#include "methods/beams/ensembles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.hpp"
#include "methods/beams/section.hpp"

namespace echoform {
namespace {

/// The table of one sample: `blend` if there is one, else a table that leaves lines as they are formed.
LineBlendTable table_of_sample(const std::shared_ptr<const LineBlendTable>& blend, std::size_t lines, std::size_t ranges) {
  if (blend != nullptr) return *blend;
  LineBlendTable one;
  one.ranges = ranges;
  one.weights.assign(ranges, 1.0F);
  for (std::uint32_t line = 0; line < lines; ++line) one.lines.push_back({{line, 0}});
  return one;
}

}  // namespace

std::optional<DopplerPlan> resolve_doppler(const ImagingSettings& settings, const Acquisition& acquisition,
                                           MetresPerSecond velocity) {
  if (!wants_flow(settings)) return std::nullopt;
  if (beams(settings).adaptive.kind != "none") {
    throw InputError(settings.place("[beams] adaptive"),
                     fmt::format("\"{}\" with [doppler] pulse_repetition", beams(settings).adaptive.kind),
                     "no adaptive weights: they change from sample to sample of an ensemble");
  }
  return find_doppler(settings, acquisition, velocity);
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

void add_table(DopplerPlan& plan, const std::shared_ptr<const LineBlendTable>& blend) {
  if (blend == nullptr) return;
  const auto count = static_cast<std::uint32_t>(plan.ensembles.samples);
  auto samples = std::make_shared<LineBlendTable>();
  samples->ranges = blend->ranges;
  samples->weights = blend->weights;
  for (const std::vector<BlendTerm>& terms : blend->lines) {
    for (std::uint32_t n = 0; n < count; ++n) {
      std::vector<BlendTerm>& of_sample = samples->lines.emplace_back();
      for (const BlendTerm& term : terms) of_sample.push_back({term.row * count + n, term.weights});
    }
  }
  plan.samples = std::move(samples);
}

std::optional<PulsePlan> resolve_pulses(const ImagingSettings& settings, const Acquisition& acquisition) {
  PulsePlan plan;
  plan.weights = beams(settings).pulse_weights;
  if (plan.weights.empty()) return std::nullopt;
  const std::string key = settings.place("[beams] pulse_weights");
  if (plan.weights.size() < 2) throw InputError(key, "one", "2 or more, one for each sounding of a beam, or none");
  if (std::ranges::find(plan.weights, 0.0) != plan.weights.end()) {
    throw InputError(key, "0", "weights other than 0: what counts for nothing need not be fired");
  }
  if (wants_flow(settings)) {
    throw InputError(key, "some with [doppler] pulse_repetition", "one of both: they tell events that are alike another meaning");
  }
  if (beams(settings).adaptive.kind != "none") {
    throw InputError(settings.place("[beams] adaptive"), fmt::format("\"{}\" with pulse_weights", beams(settings).adaptive.kind),
                     "no adaptive weights: they differ from sounding to sounding, and nothing would cancel");
  }
  plan.ensembles = find_ensembles(acquisition, settings.name(),
                                  {plan.weights.size(), plan.weights.size(), "one for each of [beams] pulse_weights"});
  return plan;
}

void add_table(PulsePlan& plan, const std::shared_ptr<const LineBlendTable>& blend, std::size_t lines, std::size_t ranges) {
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
    // The samples of one line follow each other: where they cancel, only the rounding of their own sum remains.
    for (const BlendTerm& term : terms) {
      for (std::uint32_t n = 0; n < count; ++n) all.push_back({term.row * count + n, n * tables + term.weights});
    }
  }
  plan.sum = std::move(sum);
}

}  // namespace echoform
