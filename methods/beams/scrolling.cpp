#include "methods/beams/scrolling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "base/errors.hpp"

namespace echoform {
namespace {

constexpr std::size_t least_frames = 2;

void require_line(const ImagingSettings& settings, std::string_view section, std::size_t line, const LineFan& fan) {
  if (line < fan.lines) return;
  throw InputError(settings.place(fmt::format("[{}] line", section)), fmt::format("{}", line),
                   fmt::format("0 to {}, a line of the image", fan.lines - 1));
}

/// A plan that scrolls `rows` of each frame for this many seconds.
ScrollingPlan scrolling_of(const ImagingSettings& settings, std::string_view section, double seconds, std::size_t rows) {
  const std::optional<Hertz> rate = beams(settings).frame_rate;
  if (!rate) {
    throw InputError(settings.place("[beams] frame_rate"), fmt::format("none with [{}] line", section),
                     "frames a second, by which frames become seconds");
  }
  const double frames = std::round(seconds * rate->value);
  const double least = static_cast<double>(least_frames);
  const double most = static_cast<double>(ScrollOptions::most_kept / rows);
  if (!(frames >= least && frames <= most)) {
    throw InputError(
        settings.place(fmt::format("[{}] seconds", section)),
        fmt::format("{}, {:.0f} frames of {} rows each", seconds, frames, rows),
        fmt::format("{:.3g} to {:.3g} at {:.4g} frames a second", least / rate->value, most / rate->value, rate->value));
  }
  ScrollingPlan plan;
  plan.scroll.count = rows;
  plan.scroll.kept = static_cast<std::size_t>(frames) * rows;
  plan.row = Seconds(1.0 / (rate->value * static_cast<double>(rows)));
  return plan;
}

/// Resolves the ranges of [spectrum] gate: those within it, or the nearest to its middle.
void resolve_gate(const ImagingSettings& settings, const LineRanges& ranges, LineSpectrumOptions& options) {
  const SpectrumSection& section = spectrum(settings);
  const std::string key = settings.place("[spectrum] gate");
  const std::string shown = fmt::format("{:.4g} to {:.4g} mm", 1e3 * ranges.first.value, 1e3 * ranges.at(ranges.count - 1).value);
  if (!section.gate) throw InputError(key, "none", fmt::format("first and last range of the gate, within {}", shown));
  const auto [first, last] = *section.gate;
  const std::string found = fmt::format("{:.4g} to {:.4g} mm", 1e3 * first.value, 1e3 * last.value);
  if (first > last) throw InputError(key, found, "first <= last");
  // A tenth of a range is allowed for rounding.
  const double from = (first - ranges.first) / ranges.spacing;
  const double to = (last - ranges.first) / ranges.spacing;
  if (from < -0.1 || to > static_cast<double>(ranges.count - 1) + 0.1) {
    throw InputError(key, found, fmt::format("a gate within the lines, {}", shown));
  }
  const double least = std::max(0.0, std::ceil(from - 0.1));
  const double most = std::floor(to + 0.1);
  options.first_range = static_cast<std::size_t>(most < least ? std::round(0.5 * (from + to)) : least);
  options.ranges = most < least ? 1 : static_cast<std::size_t>(most - least) + 1;
}

}  // namespace

Axis ScrollingPlan::time_axis() const {
  return {Metres(-static_cast<double>(scroll.kept - 1) * row.value), Metres(0.0), scroll.kept};
}

std::optional<ScrollingPlan> resolve_m_mode(const ImagingSettings& settings, const LineFan& fan) {
  const MModeSection& section = m_mode(settings);
  if (!section.line) return std::nullopt;
  require_line(settings, "m_mode", *section.line, fan);
  ScrollingPlan plan = scrolling_of(settings, "m_mode", section.seconds, 1);
  plan.scroll.first = *section.line;
  return plan;
}

std::optional<SpectrumPlan> resolve_spectrum(const ImagingSettings& settings, const LineFan& fan, const LineRanges& ranges,
                                             const std::optional<DopplerPlan>& doppler) {
  const SpectrumSection& section = spectrum(settings);
  if (!section.line) return std::nullopt;
  if (!doppler) {
    throw InputError(settings.place("[spectrum] line"), fmt::format("{} without [doppler] pulse_repetition", *section.line),
                     "ensembles, of whose samples a spectrum is");
  }
  require_line(settings, "spectrum", *section.line, fan);
  SpectrumPlan plan;
  LineSpectrumOptions& options = plan.spectrum;
  options.ensemble = filtered_ensemble(doppler->wall_filter);
  options.samples = section.samples.value_or(options.ensemble);
  if (options.samples < LineSpectrumOptions::least_samples || options.samples > options.ensemble) {
    throw InputError(settings.place("[spectrum] samples"), fmt::format("{}", options.samples),
                     fmt::format("{} to {}, the samples of an ensemble that the wall filter leaves",
                                 LineSpectrumOptions::least_samples, options.ensemble));
  }
  if (section.velocities < options.samples) {
    throw InputError(settings.place("[spectrum] velocities"), fmt::format("{}", section.velocities),
                     fmt::format("as many as [spectrum] samples, {}, or more", options.samples));
  }
  options.hop =
      static_cast<std::size_t>(std::max(1.0, std::round((1.0 - section.overlap) * static_cast<double>(options.samples))));
  options.bins = section.velocities;
  options.window.kind = section.window;
  options.line = *section.line;
  resolve_gate(settings, ranges, options);
  plan.scrolling = scrolling_of(settings, "spectrum", section.seconds, spectra_of(options));
  const double nyquist = doppler->nyquist.value;
  const auto bins = static_cast<double>(options.bins);
  plan.velocities = {Metres(-nyquist), Metres(nyquist * (bins - 2.0) / bins), options.bins};
  return plan;
}

}  // namespace echoform
