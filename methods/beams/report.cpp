#include "methods/beams/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/directions.hpp"
#include "methods/filter_settings.hpp"
#include "methods/flow_report.hpp"
#include "methods/point_spread.hpp"
#include "stages/scan_lines/delay_filter_kind.hpp"

namespace echoform {
namespace {

constexpr double degrees = 180.0 / std::numbers::pi;

std::string mm(double metres) {
  return fmt::format("{:.4g} mm", 1e3 * metres);
}

void report_lines(SetupReport& report, const BeamsPlan& plan) {
  const LineFan& fan = plan.fan;
  const double last = fan.at(fan.lines - 1);
  const bool sector = fan.shape == FanShape::sector;
  std::string text =
      sector ? fmt::format("{} lines from {:.4g} to {:.4g} degrees, {:.3g} apart", fan.lines, fan.first * degrees, last * degrees,
                           fan.pitch * degrees)
             : fmt::format("{} parallel lines from x = {} to {}, {} apart", fan.lines, mm(fan.first), mm(last), mm(fan.pitch));
  if (fan.elevations > 1 || fan.first_elevation != 0.0) {
    const auto row = [](std::size_t count, double first, double last_angle, double pitch) {
      return count == 1 ? fmt::format("{:.4g} degrees", first * degrees)
                        : fmt::format("{} from {:.4g} to {:.4g} degrees, {:.3g} apart", count, first * degrees,
                                      last_angle * degrees, pitch * degrees);
    };
    text = fmt::format("{}: azimuths {}; elevations {}", fan.lines, row(fan.azimuths(), fan.first, last, fan.pitch),
                       row(fan.elevations, fan.first_elevation, fan.elevation_at(fan.lines - 1), fan.elevation_pitch));
  }
  if (sector && fan.radius.value > 0.0) text += fmt::format(", from an arc of radius {}", mm(fan.radius.value));
  report.row("lines", text);
  report.values["lines"] = {{"count", fan.lines},
                            {"first", fan.first},
                            {"last", last},
                            {"pitch", fan.pitch},
                            {"shape", sector ? "sector" : "parallel"},
                            {"radius", fan.radius.value},
                            {"elevations", fan.elevations},
                            {"first_elevation", fan.first_elevation},
                            {"elevation_pitch", fan.elevation_pitch}};
  if (!plan.steered.empty()) {
    std::string angles;
    report.values["steering_angles"] = nlohmann::json::array();
    for (const LineFan& one : plan.steered) {
      angles += fmt::format("{}{:.4g}", angles.empty() ? "" : ", ", one.angle * degrees);
      report.values["steering_angles"].push_back(one.angle);
    }
    report.row("compounding", plan.section.compound ? fmt::format("mean of the lines at {} degrees", angles)
                                                    : fmt::format("none, of lines at {} degrees", angles));
  }
  const LineRanges& ranges = plan.lines->ranges;
  const double deepest = ranges.at(ranges.count - 1).value;
  report.row("ranges", fmt::format("{} from {} to {}, {} apart", ranges.count, mm(ranges.first.value), mm(deepest),
                                   mm(ranges.spacing.value)));
  report.values["ranges"] = {
      {"count", ranges.count}, {"first", ranges.first.value}, {"last", deepest}, {"spacing", ranges.spacing.value}};
  report.row("delays", name_of(plan.section.filter));
  if (plan.blend)
    report.row("blending", fmt::format("lines between events are sums of two, {} are formed", plan.lines->lines.size()));
  if (plan.pulses) {
    report.row("pulses", fmt::format("lines are sums of {} soundings of each of {} beams, with the weights {:.4g}",
                                     plan.pulses->weights.size(), plan.pulses->ensembles.events.size(),
                                     fmt::join(plan.pulses->weights, ", ")));
    report.values["pulse_weights"] = plan.pulses->weights;
  }
  if (plan.baseband) {
    const DemodulationOptions& baseband = *plan.baseband;
    const Hertz middle = baseband.frequency + baseband.filter_offset;
    report.row("baseband",
               fmt::format("{:.4g} to {:.4g} MHz about {:.4g} MHz, 1 of {} samples, by {} taps",
                           1e-6 * std::max(0.0, (middle - baseband.pass).value), 1e-6 * (middle + baseband.pass).value,
                           1e-6 * baseband.frequency.value, baseband.decimation, demodulation_filter(baseband).size()));
    if (plan.vestige > 0) report.row("sidebands", fmt::format("one made of both in {} bins about 0 Hz", 2 * plan.vestige + 1));
    report.values["baseband"] = {{"frequency", baseband.frequency.value},  {"middle", middle.value},
                                 {"bandwidth", 2.0 * baseband.pass.value}, {"stop", baseband.stop.value},
                                 {"decimation", baseband.decimation},      {"vestige_bins", plan.vestige}};
  }
  const AdaptiveOptions& adaptive = plan.section.adaptive;
  const AdaptiveKind& kind = adaptive_kind(adaptive.kind, "[beams] adaptive");
  if (kind.sums_of == ChannelSums::none) return;
  report.row("adaptive", fmt::format("{}, over {} ranges: {}", kind.name, 2 * adaptive.half_window + 1, kind.meaning));
  report.values["adaptive"] = {{"kind", adaptive.kind}, {"window_ranges", 2 * adaptive.half_window + 1}};
}

/// Reports the gate whose velocities are shown over time.
void report_spectrum(SetupReport& report, const BeamsPlan& plan) {
  if (!plan.spectrum) return;
  const LineSpectrumOptions& options = plan.spectrum->spectrum;
  report.row("spectrum", fmt::format("line {}, {} ranges, {} a frame of {} samples, {} velocities {:.3g} m/s apart", options.line,
                                     options.ranges, spectra_of(options), options.samples, options.bins,
                                     plan.spectrum->velocities.spacing().value));
  report.values["spectrum"] = {{"line", options.line},
                               {"first_range", options.first_range},
                               {"ranges", options.ranges},
                               {"a_frame", spectra_of(options)},
                               {"samples", options.samples},
                               {"velocities", options.bins},
                               {"rows", plan.spectrum->scrolling.scroll.kept}};
}

/// The part of the pulse's spectrum that remains in the lines: behind the filter of A-scans, and in the band that is kept.
std::vector<SpectralLine> spectrum_of(const BeamsPlan& plan) {
  AmplitudeResponse response = response_of(plan.filter);
  if (plan.baseband) {
    const double middle = (plan.baseband->frequency + plan.baseband->filter_offset).value;
    const double turn = 2.0 * std::numbers::pi / plan.baseband->sample_rate.value;
    response = [before = std::move(response), taps = demodulation_filter(*plan.baseband), middle, turn](double frequency) {
      // The taps are symmetric about the middle one.
      double passed = 0.0;
      for (std::size_t k = 0; k < taps.size(); ++k) {
        const double from_middle = static_cast<double>(k) - 0.5 * static_cast<double>(taps.size() - 1);
        passed += taps[k] * std::cos(turn * (frequency - middle) * from_middle);
      }
      return std::abs(passed) * before(frequency);
    };
  }
  return pulse_spectrum(plan.acquisition.probe.centre_frequency, plan.acquisition.probe.bandwidth, response);
}

/// One of the lines, and a place in the middle of it.
struct MiddleOfLine {
  const ImageLine& line;
  std::size_t range;
  Point place;
};

MiddleOfLine middle_of(const LineSet& lines) {
  const ImageLine& line = lines.lines[lines.lines.size() / 2];
  const std::size_t range = lines.ranges.count / 2;
  const Metres way = lines.ranges.at(range);
  return {
      line,
      range,
      {line.origin.x + way * line.direction.x, line.origin.y + way * line.direction.y, line.origin.z + way * line.direction.z}};
}

/// Rays from the line's receivers to that place, with the weights of the line's sum.
std::vector<SpotRay> rays_back(const BeamsPlan& plan, const MiddleOfLine& middle) {
  const LineSet& lines = *plan.lines;
  const std::size_t count = lines.ranges.count;
  std::size_t entry = 0;
  for (const ImageLine& line : lines.lines) {
    if (&line == &middle.line) break;
    entry += lines.events[line.event].receivers.size();
  }
  std::vector<SpotRay> rays;
  for (const std::uint32_t receiver : lines.events[middle.line.event].receivers) {
    const std::uint32_t table = lines.weight_tables[entry++];
    if (table == LineSet::unheard) continue;
    const auto weight = static_cast<double>(lines.weights[table * count + middle.range]);
    const Direction way = between(lines.elements[receiver], middle.place);
    if (!(weight > 0.0) || !(length(way) > 0.0)) continue;
    rays.push_back({scaled(way, 1.0 / (length(way) * plan.velocity.value)), weight, receiver});
  }
  return rays;
}

/// Reports the widths, at half the amplitude, of a point in the middle of the middle line. The width across the line follows from
/// the receiving side alone, the width along it from the pulse, with the weights and filters of the lines.
void report_spot(SetupReport& report, const BeamsPlan& plan) {
  const Probe& probe = plan.acquisition.probe;
  const double frequency = probe.centre_frequency.value;
  if (!(frequency > 0.0)) return;
  const double lambda = plan.velocity.value / frequency;
  report.row("wavelength", mm(lambda));
  report.values["wavelength"] = lambda;
  const MiddleOfLine middle = middle_of(*plan.lines);
  const std::vector<SpotRay> back = rays_back(plan, middle);
  const std::vector<SpotRay> out{{scaled(middle.line.direction, 1.0 / plan.velocity.value), 1.0, 0}};
  const std::vector<SpectralLine> spectrum = spectrum_of(plan);
  if (back.empty() || spectrum.empty()) return;
  const Spot spot = spot_of({out, back, spectrum});
  const double range = plan.lines->ranges.at(middle.range).value;
  if (spot.lateral.width) {
    const double across = spot.lateral.width->value;
    report.row("lateral", fmt::format("{} at a range of {}, of the receiving side alone", mm(across), mm(range)));
    report.values["lateral"] = across;
    const double pitch = std::max(plan.fan.pitch, plan.fan.elevation_pitch);
    const double between = plan.fan.shape == FanShape::sector ? pitch * (range + plan.fan.radius.value) : pitch;
    if (between > across) {
      report.warnings.push_back(
          fmt::format("lines are {} apart at a range of {}, more than a point is wide there ({}): more events "
                      "or [beams] lines would show what lies between them",
                      mm(between), mm(range), mm(across)));
    }
  }
  if (probe.bandwidth.value > 0.0 && spot.axial.width) {
    report.row("axial", mm(spot.axial.width->value));
    report.values["axial"] = spot.axial.width->value;
  }
}

void report_rate(SetupReport& report, const BeamsPlan& plan) {
  const LineRanges& ranges = plan.lines->ranges;
  const double beam = 2.0 * ranges.at(ranges.count - 1).value / plan.velocity.value;
  const double frames = 1.0 / (beam * static_cast<double>(plan.events.size()));
  report.row("sound", fmt::format("{:.4g} us a beam, {:.4g} images/s of {} beams", 1e6 * beam, frames, plan.events.size()));
  report.values["images_per_second_of_sound"] = frames;
}

}  // namespace

SetupReport report_beams(const BeamsPlan& plan) {
  SetupReport report;
  report_lines(report, plan);
  if (plan.m_mode) {
    report.row("M-mode", fmt::format("line {}, the last {} frames", plan.m_mode->scroll.first, plan.m_mode->scroll.kept));
    report.values["m_mode"] = {{"line", plan.m_mode->scroll.first}, {"rows", plan.m_mode->scroll.kept}};
  }
  report_spot(report, plan);
  report_rate(report, plan);
  if (plan.doppler) report_flow(report, *plan.doppler, "the lines");
  report_spectrum(report, plan);
  report_filter(report, plan.filter);
  const Grid& shown = plan.display_grid;
  report.row("display",
             fmt::format("{} x {}{} pixels of {}", shown.x.count, shown.y.count > 1 ? fmt::format("{} x ", shown.y.count) : "",
                         shown.z.count, mm(shown.x.spacing().value)));
  return report;
}

}  // namespace echoform
