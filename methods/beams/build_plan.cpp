#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "acquisition/firings.hpp"
#include "acquisition/frame_layout.hpp"
#include "base/errors.hpp"
#include "base/planning.hpp"
#include "delay_laws/delay_law.hpp"
#include "methods/beams/adaptive.hpp"
#include "methods/beams/aperture.hpp"
#include "methods/beams/baseband.hpp"
#include "methods/beams/beam_level.hpp"
#include "methods/beams/blending.hpp"
#include "methods/beams/line_display.hpp"
#include "methods/beams/plan.hpp"
#include "methods/filter_settings.hpp"
#include "methods/host_memory.hpp"
#include "pipeline/setup_memory.hpp"

namespace echoform {
namespace {

// The first sample and the number of samples of an upload are multiples of these.
constexpr std::size_t first_step = 8;
constexpr std::size_t count_step = 16;
// Number of samples that the longest delay filter may read beside a place.
constexpr std::size_t filter_guard = 16;
constexpr std::size_t most_ranges = 65535;

Seconds first_sample(const Acquisition& acquisition) {
  return acquisition.start_time - acquisition.time_offset;
}

LineRanges resolve_ranges(const ImagingSettings& settings, const BeamsPlan& plan) {
  const Acquisition& acquisition = plan.acquisition;
  const double c = plan.velocity.value;
  const double rate = acquisition.sample_rate.value;
  const double opens = first_sample(acquisition).value;
  const double closes = opens + static_cast<double>(acquisition.samples - 1) / rate;
  double first = std::max(0.0, 0.5 * c * opens);
  double last = 0.5 * c * closes;
  if (plan.section.depth) {
    first = (*plan.section.depth)[0].value;
    last = (*plan.section.depth)[1].value;
  }
  if (!(last > first) || !(first >= 0.0)) {
    throw InputError(settings.place("[beams] depth"), fmt::format("{:.3f} to {:.3f} mm", 1e3 * first, 1e3 * last),
                     "a first range of 0 or more and a greater last one, within what the A-scans hold");
  }
  // One range for each sample of the A-scan, as in the thesis, and as fine as the data are. In baseband it is one range for each
  // baseband sample.
  const double natural = 0.5 * c * static_cast<double>(plan.baseband ? plan.baseband->decimation : 1) / rate;
  const double natural_count = std::floor((last - first) / natural + 1e-6) + 1.0;
  const auto count =
      plan.section.ranges.value_or(static_cast<std::size_t>(std::min(natural_count, static_cast<double>(most_ranges))));
  if (count < 2) throw InputError(settings.place("[beams] depth"), fmt::format("{} range", count), "at least 2 of them");
  const double spacing = plan.section.ranges ? (last - first) / static_cast<double>(count - 1) : natural;
  return {Metres(first), Metres(spacing), count};
}

/// If the ranges are not stated, the part of the band that is kept determines them. If they are stated, they determine the part
/// that can be kept.
void resolve_vestige(const ImagingSettings& settings, BeamsPlan& plan, const LineRanges& ranges) {
  if (!plan.baseband) return;
  const Hertz line_rate = plan.velocity / (2.0 * ranges.spacing);
  if (plan.section.ranges && wants_more_ranges(*plan.baseband, line_rate)) {
    plan.baseband = resolve_baseband(settings, plan.acquisition, false);
  }
  plan.vestige = vestige_bins(*plan.baseband, line_rate, ranges.count);
}

/// Warns of requested ranges that cannot be imaged.
void warn_of_depth(BeamsPlan& plan, const LineRanges& ranges) {
  if (!plan.section.depth) return;
  const Metres asked = (*plan.section.depth)[1];
  const Metres last = ranges.at(ranges.count - 1);
  if (asked > last + ranges.spacing) {
    plan.warnings.push_back(
        fmt::format("lines end at {:.4g} mm, not at {:.4g} mm, after {} ranges of a sample each: [beams] ranges "
                    "would spread them over all of [beams] depth",
                    1e3 * last.value, 1e3 * asked.value, ranges.count));
  }
  const Acquisition& acquisition = plan.acquisition;
  const Seconds closes = first_sample(acquisition) + static_cast<double>(acquisition.samples - 1) / acquisition.sample_rate;
  const Metres heard = 0.5 * closes * plan.velocity;
  if (last > heard + ranges.spacing) {
    plan.warnings.push_back(
        fmt::format("[beams] depth goes to {:.4g} mm, and A-scans end with echoes from {:.4g} mm: nothing is "
                    "shown beyond",
                    1e3 * last.value, 1e3 * heard.value));
  }
}

/// Warns of lines between events where no beam reaches more than one point in a hundred: there the lines are dark. `times` are
/// the times of the lines that are blended, or of the final lines if no lines are blended.
void warn_of_dark_lines(BeamsPlan& plan, const BlendedLines& blended, std::span<const double> times, const LineRanges& ranges) {
  const auto silent = [&](std::size_t line, std::size_t k) { return std::isnan(times[line * ranges.count + k]); };
  const bool blend = !blended.shares.empty();
  const std::size_t lines = blend ? blended.shares.size() : times.size() / ranges.count;
  std::size_t dark = 0;
  std::string first;
  for (std::size_t line = 0; line < lines; ++line) {
    for (std::size_t k = 0; k < ranges.count; ++k) {
      const auto of_share = [&](const LineShare& share) { return silent(share.component, k); };
      if (blend ? !std::ranges::all_of(blended.shares[line], of_share) : !silent(line, k)) continue;
      if (dark++ == 0) first = fmt::format("{:.4g} mm on line {}", 1e3 * ranges.at(k).value, line);
    }
  }
  const double part = static_cast<double>(dark) / static_cast<double>(lines * ranges.count);
  if (part <= 0.01) return;
  plan.warnings.push_back(
      fmt::format("no beam reaches {:.0f} % of the points of lines, the first at {}, and they are dark: events "
                  "are too far apart for [beams] lines = {}{}",
                  100.0 * part, first, plan.section.lines,
                  plan.section.lines_across > 1 ? fmt::format(", lines_across = {}", plan.section.lines_across) : ""));
}

/// Bytes of a point of a line before anything else: its transmit time, its place and divisor, and blocks for its sum, its
/// analytic signal and its envelope.
constexpr double bytes_of_point = 8.0 + 12.0 + 4.0 + 8.0 + 4.0;

MemoryExtent extent_of(const BeamsPlan& plan, const LineSet& set) {
  return {"[beams] ranges",
          fmt::format("{} lines of {} ranges with {} elements", set.lines.size(), set.ranges.count, plan.acquisition.elements())};
}

/// Times of each line's event to its points; NaN where the event does not reach a point.
std::vector<double> transmit_times(const BeamsPlan& plan, const LineSet& set) {
  const DelayLaw law = make_delay_law(
      "contact", {.acquisition = plan.acquisition, .material = {plan.velocity, {}}, .view = "LL", .chosen = plan.events});
  std::vector<double> times(set.lines.size() * set.ranges.count);
  std::vector<Point> points(set.ranges.count);
  for (std::size_t line = 0; line < set.lines.size(); ++line) {
    keep_planning();
    const ImageLine& along = set.lines[line];
    for (std::size_t k = 0; k < points.size(); ++k) {
      const Metres r = set.ranges.at(k);
      points[k] = {along.origin.x + r * along.direction.x, along.origin.y + r * along.direction.y,
                   along.origin.z + r * along.direction.z};
    }
    const std::size_t source = firing_element(plan.acquisition, along.event).value_or(along.event);
    law.transmit->travel_times(source, points, {times.data() + line * points.size(), points.size()});
  }
  return times;
}

/// Times of each line's first of `samples`, which all have the same times.
std::vector<double> of_first_samples(const LineSet& set, std::size_t samples) {
  std::vector<double> times;
  for (std::size_t line = 0; line < set.lines.size(); line += samples) {
    const auto from = set.transmit_times.begin() + static_cast<std::ptrdiff_t>(line * set.ranges.count);
    times.insert(times.end(), from, from + static_cast<std::ptrdiff_t>(set.ranges.count));
  }
  return times;
}

std::vector<LineEvent> events_of(const Acquisition& acquisition) {
  const FrameLayout layout(acquisition);
  std::vector<LineEvent> events(acquisition.event_count());
  const std::vector<EventReceiver> pairs = layout.pairs();
  for (std::size_t event = 0; event < events.size(); ++event) {
    const RowRange rows = layout.shot(event);
    events[event].first_row = rows.first;
    for (std::size_t row = rows.first; row < rows.first + rows.count; ++row) {
      events[event].receivers.push_back(pairs[row].receiver);
    }
  }
  return events;
}

/// Samples between the earliest and the latest one that some line may look up.
SampleGate reached_samples(const ImagingSettings& settings, const BeamsPlan& plan, const LineSet& set) {
  double earliest = std::numeric_limits<double>::infinity();
  double latest = -earliest;
  for (std::size_t line = 0; line < set.lines.size(); ++line) {
    const ImageLine& along = set.lines[line];
    double reach = 0.0;
    for (const std::uint32_t element : set.events[along.event].receivers) {
      const Point& at = set.elements[element];
      reach = std::max(reach,
                       std::hypot((at.x - along.origin.x).value, (at.y - along.origin.y).value, (at.z - along.origin.z).value));
    }
    for (std::size_t k = 0; k < set.ranges.count; ++k) {
      const double out = set.transmit_times[line * set.ranges.count + k];
      if (std::isnan(out)) continue;
      const double r = set.ranges.at(k).value;
      earliest = std::min(earliest, out + std::max(0.0, r - reach) / plan.velocity.value);
      latest = std::max(latest, out + (r + reach) / plan.velocity.value);
    }
  }
  const double rate = plan.acquisition.sample_rate.value;
  const double from = std::floor((earliest - first_sample(plan.acquisition).value) * rate);
  const double to = std::floor((latest - first_sample(plan.acquisition).value) * rate) + 1.0;
  const auto samples = static_cast<double>(plan.acquisition.samples);
  if (!(from < samples && to >= 0.0)) {
    throw InputError(settings.place("[beams] depth"), "no range whose echoes the A-scans hold",
                     fmt::format("some within {} samples at {:.4g} MHz", plan.acquisition.samples, 1e-6 * rate));
  }
  double guard = static_cast<double>(filter_guard);
  if (plan.baseband) {
    guard = guard * static_cast<double>(plan.baseband->decimation) +
            0.5 * static_cast<double>(demodulation_filter(*plan.baseband).size());
  }
  const std::size_t first = static_cast<std::size_t>(std::max(0.0, from - guard)) / first_step * first_step;
  const auto end = static_cast<std::size_t>(std::min(samples, to + guard + 1.0));
  const std::size_t count = (end - first + count_step - 1) / count_step * count_step;
  return {first, std::min(count, plan.acquisition.samples - first)};
}

/// Fits least-squares filters to the probe's band, as far as that is known.
void fit_filter(DelayFilterOptions& filter, const Acquisition& acquisition) {
  const double rate = acquisition.sample_rate.value;
  const double centre = acquisition.probe.centre_frequency.value / rate;
  if (!(centre > 0.0)) return;
  const double width =
      acquisition.probe.bandwidth.value > 0.0 ? acquisition.probe.bandwidth.value / rate : usual_bandwidth * centre;
  filter.centre = std::clamp(centre, DelayFilterOptions::centres.least, DelayFilterOptions::centres.most);
  filter.bandwidth = std::clamp(width, DelayFilterOptions::bandwidths.least, DelayFilterOptions::bandwidths.most);
}

void refuse_unfit(const ImagingSettings& settings, const Acquisition& acquisition) {
  const auto refuse = [&](const std::string& found) {
    throw InputError(fmt::format("{}: [imaging] method = \"beams\"", settings.name()), found,
                     "frames whose events are beams, plane or diverging waves, or single elements, at one position");
  };
  if (const auto bond = bond_of_events(acquisition)) refuse(*bond);
  if (!acquisition.positions.empty()) refuse("several positions of the probe within a frame");
}

LinesOfEvent lines_of_event(const BeamsSection& section) {
  return {section.lines, section.lines_across};
}

bool blends(const BeamsSection& section) {
  return section.blend && (section.lines > 1 || section.lines_across > 1);
}

/// All lines to form. `sounded` has one event for each place. The image's lines are those of the fan with the smallest steering
/// angle.
FannedLines choose_fans(const ImagingSettings& settings, BeamsPlan& plan, const std::vector<std::uint32_t>& sounded) {
  std::vector<FannedLines> fans =
      make_fans(plan.acquisition, sounded, lines_of_event(plan.section), plan.velocity, settings.name());
  FannedLines all = *std::ranges::min_element(fans, {}, [](const FannedLines& one) { return std::abs(one.fan.angle); });
  plan.fan = all.fan;
  if (fans.size() == 1) return all;
  if (blends(plan.section)) {
    throw InputError(settings.place("[beams] blend"), fmt::format("lines of {} steering angles", fans.size()),
                     "lines of one, or blend = false");
  }
  if (plan.doppler) {
    throw InputError(settings.place("[doppler] pulse_repetition"), fmt::format("lines of {} steering angles", fans.size()),
                     "lines of one, whose direction the velocity is of");
  }
  all.lines.clear();
  for (const FannedLines& one : fans) {
    plan.steered.push_back(one.fan);
    all.lines.insert(all.lines.end(), one.lines.begin(), one.lines.end());
  }
  return all;
}

Outline probe_outline(const Probe& probe) {
  Outline outline{.name = "probe", .x = {}, .z = {}};
  const std::size_t count = std::min(probe.elements.size(), most_outline_points);
  for (std::size_t k = 0; k < count; ++k) {
    const Point& at = probe.elements[count < 2 ? 0 : k * (probe.elements.size() - 1) / (count - 1)].centre;
    outline.x.push_back(static_cast<float>(at.x.value));
    outline.z.push_back(static_cast<float>(at.z.value));
  }
  return outline;
}

}  // namespace

std::shared_ptr<const BeamsPlan> build_beams_plan(const ImagingTask& task) {
  auto plan = std::make_shared<BeamsPlan>(task);
  refuse_unfit(task, plan->acquisition);
  plan->velocity = plan->material.longitudinal_velocity;
  if (!(plan->velocity.value > 0.0)) {
    throw InputError(task.place("[material] longitudinal_velocity"), "none", "the velocity of sound in m/s");
  }
  plan->section = beams(task);
  fit_filter(plan->section.filter, plan->acquisition);
  for (std::uint32_t event = 0; event < plan->acquisition.event_count(); ++event) plan->events.push_back(event);

  plan->pulses = resolve_pulses(task, plan->acquisition);
  plan->doppler = resolve_doppler(task, plan->acquisition, plan->velocity);
  const Ensembles* const repeated = plan->doppler ? &plan->doppler->ensembles : plan->pulses ? &plan->pulses->ensembles : nullptr;
  std::vector<std::uint32_t> sounded = plan->events;  // one event for each place
  if (repeated != nullptr) {
    sounded.clear();
    for (const std::vector<std::uint32_t>& ensemble : repeated->events) sounded.push_back(ensemble.front());
  }
  const FannedLines fanned = choose_fans(task, *plan, sounded);
  plan->baseband = resolve_baseband(task, plan->acquisition);
  auto set = std::make_shared<LineSet>();
  for (const Element& element : plan->acquisition.probe.elements) set->elements.push_back(element.centre);
  set->events = events_of(plan->acquisition);
  const bool blend = blends(plan->section);
  const BlendedLines blended = blend ? blend_lines(fanned, lines_of_event(plan->section)) : BlendedLines{};
  set->lines = blend ? blended.components : fanned.lines;
  const std::size_t formed = set->lines.size();
  if (repeated != nullptr) set->lines = repeat_lines(set->lines, *repeated);
  set->ranges = resolve_ranges(task, *plan);
  resolve_vestige(task, *plan, set->ranges);
  const double points = static_cast<double>(set->lines.size()) * static_cast<double>(set->ranges.count);
  require_host_memory(task, points * bytes_of_point, extent_of(*plan, *set), task.besides);
  set->transmit_times = transmit_times(*plan, *set);
  const std::vector<double> sounded_times =
      repeated != nullptr ? of_first_samples(*set, repeated->samples) : std::vector<double>{};
  const std::span<const double> times = repeated != nullptr ? sounded_times : set->transmit_times;
  if (blend) {
    LineGain gain;
    if (plan->section.equalise) {
      const auto times_of = [&](const LineSet& lines) { return transmit_times(*plan, lines); };
      const std::size_t ranges = set->ranges.count;
      gain = [gains = beam_gains(blended, fanned, lines_of_event(plan->section), plan->acquisition, plan->velocity, set->ranges,
                                 times_of),
              ranges](std::size_t line, std::size_t range) { return gains.at(line, range, ranges); };
    }
    plan->blend = blend_table(blended, set->ranges.count, times, gain);
  }
  if (plan->doppler) {
    plan->doppler->autocorrelation.half_window =
        half_window_of(doppler(task), *plan->doppler, plan->velocity, set->ranges.spacing);
    add_table(*plan->doppler, plan->blend);
  }
  plan->m_mode = resolve_m_mode(task, plan->fan);
  plan->spectrum = resolve_spectrum(task, plan->fan, set->ranges, plan->doppler);
  if (plan->pulses) add_table(*plan->pulses, plan->blend, formed, set->ranges.count);
  weigh_receivers(*set, plan->acquisition.probe, plan->section.window, plan->section.f_number, [&](double bytes) {
    // Twice, because the stage has a padded copy of its own.
    require_host_memory(task, points * bytes_of_point + 2.0 * bytes, extent_of(*plan, *set), task.besides);
  });
  plan->filter = resolve_filter(task, plan->acquisition, plan->notes);
  // A filter needs whole A-scans, because its response wraps around their ends.
  plan->gate =
      plan->filter.kind == FilterKind::none ? reached_samples(task, *plan, *set) : SampleGate{0, plan->acquisition.samples};
  if (const std::size_t muted = muted_samples(task, plan->acquisition, plan->notes); muted > plan->gate.first) {
    const std::size_t end = std::max(plan->gate.first + plan->gate.count, muted + 2);
    plan->gate = {muted, end - muted};
  }
  resolve_adaptive(task, *plan, set->ranges);
  plan->display_grid = resolve_display(plan->display, plan->fan, set->ranges);
  validate(plan->display_grid, task.place("[display]"));
  plan->outlines.push_back(probe_outline(plan->acquisition.probe));
  const MemoryExtent extent = extent_of(*plan, *set);
  plan->lines = std::move(set);
  for (std::string& line : filter_warnings(task, plan->filter, plan->acquisition)) plan->warnings.push_back(std::move(line));
  warn_of_depth(*plan, plan->lines->ranges);
  if (plan->section.lines > 1 || plan->section.lines_across > 1) warn_of_dark_lines(*plan, blended, times, plan->lines->ranges);
  const std::size_t needed = host_memory(*make_beams_setup(plan), task.frames_in_flight, imaging_site(task));
  require_host_memory(task, static_cast<double>(needed), extent, task.besides);
  return plan;
}

}  // namespace echoform
