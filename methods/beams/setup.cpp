#include <algorithm>
#include <cmath>
#include <utility>

#include "methods/beams/line_display.hpp"
#include "methods/beams/plan.hpp"
#include "methods/beams/scrolled_images.hpp"
#include "stages/analytic_signal/analytic_signal.hpp"
#include "stages/autocorrelation/autocorrelation.hpp"
#include "stages/demodulation/demodulation.hpp"
#include "stages/envelope/envelope.hpp"
#include "stages/filter/filter.hpp"
#include "stages/flow/flow.hpp"
#include "stages/line_blend/line_blend.hpp"
#include "stages/line_compound/line_compound.hpp"
#include "stages/line_gain/line_gain.hpp"
#include "stages/pairing/pairing.hpp"
#include "stages/persistence/persistence.hpp"
#include "stages/scan_lines/scan_lines.hpp"
#include "stages/single_sideband/single_sideband.hpp"
#include "stages/time_gain/time_gain.hpp"
#include "stages/wall_filter/wall_filter.hpp"

namespace echoform {
namespace {

Seconds start_of_gate(const BeamsPlan& plan) {
  const Acquisition& acquisition = plan.acquisition;
  return acquisition.start_time - acquisition.time_offset +
         Seconds(static_cast<double>(plan.gate.first) / acquisition.sample_rate.value);
}

ScanLinesOptions scan_lines_options(const BeamsPlan& plan) {
  ScanLinesOptions options;
  options.lines = plan.lines;
  options.velocity = plan.velocity;
  options.sample_rate = plan.acquisition.sample_rate;
  options.start_time = plan.acquisition.start_time - plan.acquisition.time_offset;
  options.gate = plan.gate;
  options.filter = plan.section.filter;
  options.normalise = plan.section.normalise;
  options.adaptive = plan.section.adaptive;
  if (plan.baseband) {
    const std::size_t decimation = plan.baseband->decimation;
    options.sample_rate = options.sample_rate / static_cast<double>(decimation);
    options.start_time = start_of_gate(plan);
    options.gate = {0, (plan.gate.count + decimation - 1) / decimation};
    options.demodulated = plan.baseband->frequency;
  }
  return options;
}

DemodulationOptions demodulation_options(const BeamsPlan& plan) {
  DemodulationOptions options = *plan.baseband;
  options.start_time = start_of_gate(plan);
  return options;
}

LineCompoundOptions compound_options(const BeamsPlan& plan) {
  LineCompoundOptions options;
  options.ranges = plan.lines->ranges;
  options.all = plan.section.compound;
  std::size_t row = 0;
  for (const LineFan& fan : plan.steered) {
    if (fan.angle == plan.fan.angle) options.image = options.sets.size();
    options.sets.push_back({row, fan.lines, fan.apex.x, fan.apex.z, Metres(fan.pitch), fan.angle});
    row += fan.lines;
  }
  return options;
}

/// Adds the steps from raw samples to lines. The lines' own stage reads the samples, or a filter before it reads them row by row.
std::size_t add_lines(Recipe& recipe, const BeamsPlan& plan) {
  ScanLinesOptions options = scan_lines_options(plan);
  if (plan.filter.kind == FilterKind::none && plan.baseband) {
    DemodulationOptions demodulation = demodulation_options(plan);
    demodulation.sample_scale = plan.amplitude_scale();
    demodulation.time_gain = time_gain_of(plan);
    const std::size_t baseband = recipe.add(demodulation_stage, std::move(demodulation), {0});
    return recipe.add(scan_lines_stage, std::move(options), {baseband});
  }
  if (plan.filter.kind == FilterKind::none) {
    options.sample_scale = plan.amplitude_scale();
    options.time_gain = time_gain_of(plan);
    return recipe.add(scan_lines_stage, std::move(options), {0});
  }
  PairingOptions pairing{plan.acquisition.a_scans(), nullptr, plan.amplitude_scale()};
  auto sources = std::make_shared<std::vector<PairSource>>();
  for (std::size_t row = 0; row < pairing.a_scans; ++row) sources->push_back({row, row, 1.0F});
  pairing.sources = std::move(sources);
  std::size_t rows = recipe.add(pairing_stage, std::move(pairing), {0});
  if (auto gain = time_gain_of(plan)) rows = recipe.add(time_gain_stage, TimeGainOptions{std::move(gain)}, {rows});
  rows = recipe.add(filter_stage, plan.filter, {rows});
  if (plan.baseband) rows = recipe.add(demodulation_stage, demodulation_options(plan), {rows});
  return recipe.add(scan_lines_stage, std::move(options), {rows});
}

OutputDescription polar_output(const BeamsPlan& plan, std::string_view name) {
  OutputDescription polar{std::string(name), OutputKind::envelope, polar_grid(plan)};
  polar.x = {"range", "m"};
  const LineFan& fan = plan.fan;
  polar.z = fan.shape == FanShape::sector ? Meaning{"angle", "rad"} : Meaning{"x", "m"};
  if (fan.volume()) {
    polar.y = {"azimuth", "rad"};
    polar.z = {"elevation", "rad"};
  } else {
    polar.lines = LineGeometry{fan.apex.x, fan.apex.z, fan.radius, fan.angle};
  }
  return polar;
}

/// Adds the steps from lines to complex samples of ensembles, [line, sample].
std::size_t add_samples_of_ensembles(Recipe& recipe, const BeamsPlan& plan, std::size_t lines) {
  if (plan.doppler->samples) lines = recipe.add(line_blend_stage, LineBlendOptions{plan.doppler->samples}, {lines});
  return plan.baseband ? lines : recipe.add(analytic_signal_stage, AnalyticSignalOptions{}, {lines});
}

/// Adds the images of flow, from the samples of ensembles.
void add_flow(Recipe& recipe, const BeamsPlan& plan, std::size_t lines) {
  const DopplerPlan& doppler = *plan.doppler;
  if (doppler.wall_filter.kind != WallFilterKind::none) lines = recipe.add(wall_filter_stage, doppler.wall_filter, {lines});
  add_spectrum(recipe, plan, lines);
  const std::size_t correlations = recipe.add(autocorrelation_stage, doppler.autocorrelation, {lines});
  for (const FlowImage& image : flow_images(doppler)) {
    OutputDescription description = polar_output(plan, image.description.view);
    description.pixels = image.description.pixels;
    description.scale = image.description.scale;
    description.limit = image.description.limit;
    const FlowOptions options{image.kind, doppler.nyquist, doppler.threshold};
    add_line_image(recipe, plan, description, recipe.add(flow_stage, options, {correlations}), plan.wish.display);
  }
}

Recipe make_recipe(const BeamsPlan& plan) {
  Recipe recipe;
  std::size_t lines = add_lines(recipe, plan);
  if (plan.pulses) {
    lines = recipe.add(line_blend_stage, LineBlendOptions{plan.pulses->sum}, {lines});
  } else if (plan.blend && !plan.doppler) {
    lines = recipe.add(line_blend_stage, LineBlendOptions{plan.blend}, {lines});
  }
  if (plan.vestige > 0) lines = recipe.add(single_sideband_stage, SingleSidebandOptions{plan.vestige}, {lines});
  std::size_t envelope = lines;
  if (plan.doppler) {
    lines = add_samples_of_ensembles(recipe, plan, lines);
    // The mean is taken over envelopes: in a mean of lines, echoes that change from sample to sample would vanish.
    envelope = recipe.add(envelope_stage, EnvelopeOptions{plan.doppler->ensembles.samples}, {lines});
  } else if (adaptive_kind(plan.section.adaptive.kind, "[beams] adaptive").result != AdaptiveResult::image) {
    AnalyticSignalOptions options;
    options.filter = plan.line_filter;
    if (!plan.baseband) lines = recipe.add(analytic_signal_stage, std::move(options), {lines});
    envelope = recipe.add(envelope_stage, EnvelopeOptions{}, {lines});
  }
  if (!plan.steered.empty()) envelope = recipe.add(line_compound_stage, compound_options(plan), {envelope});
  if (auto gain = lateral_gain_of(plan)) envelope = recipe.add(line_gain_stage, LineGainOptions{std::move(gain)}, {envelope});
  const std::size_t of_frame = envelope;
  if (plan.section.persistence > 0.0) {
    envelope = recipe.add(persistence_stage, PersistenceOptions{plan.section.persistence}, {envelope});
  }
  add_line_image(recipe, plan, polar_output(plan, beams_image), envelope, plan.wish.display);
  add_m_mode(recipe, plan, of_frame);
  if (plan.doppler) add_flow(recipe, plan, lines);
  return recipe;
}

}  // namespace

std::shared_ptr<const std::vector<float>> time_gain_of(const BeamsPlan& plan) {
  const std::vector<double>& gains = plan.section.time_gain;
  if (gains.empty()) return nullptr;
  const LineRanges& ranges = plan.lines->ranges;
  const double span = (ranges.at(ranges.count - 1) - ranges.first).value;
  std::vector<double> depths;
  for (std::size_t k = 0; k < gains.size(); ++k) {
    depths.push_back(!plan.section.time_gain_depths.empty() ? plan.section.time_gain_depths[k].value
                     : gains.size() == 1
                         ? ranges.first.value
                         : ranges.first.value + span * static_cast<double>(k) / static_cast<double>(gains.size() - 1));
  }
  auto gain = std::make_shared<std::vector<float>>(plan.gate.count);
  const double rate = plan.acquisition.sample_rate.value;
  const double start = (plan.acquisition.start_time - plan.acquisition.time_offset).value;
  std::size_t next = 0;  // the first point that is deeper
  for (std::size_t n = 0; n < gain->size(); ++n) {
    const double depth = 0.5 * plan.velocity.value * (start + static_cast<double>(plan.gate.first + n) / rate);
    while (next < gains.size() && depths[next] <= depth) ++next;
    double db = next == 0 ? gains.front() : gains[next - 1];
    if (next > 0 && next < gains.size()) {
      db += (gains[next] - db) * (depth - depths[next - 1]) / (depths[next] - depths[next - 1]);
    }
    (*gain)[n] = static_cast<float>(std::pow(10.0, db / 20.0));
  }
  return gain;
}

std::shared_ptr<const std::vector<float>> lateral_gain_of(const BeamsPlan& plan) {
  const std::vector<double>& gains = plan.section.lateral_gain;
  if (gains.empty()) return nullptr;
  auto gain = std::make_shared<std::vector<float>>(plan.fan.lines);
  const std::size_t azimuths = plan.fan.azimuths() > 1 ? plan.fan.azimuths() : plan.fan.lines;
  for (std::size_t line = 0; line < gain->size(); ++line) {
    const double place =
        static_cast<double>(line % azimuths * (gains.size() - 1)) / static_cast<double>(std::max<std::size_t>(1, azimuths - 1));
    const std::size_t before = std::min(static_cast<std::size_t>(place), gains.size() - 1);
    const std::size_t after = std::min(before + 1, gains.size() - 1);
    const double db = gains[before] + (place - static_cast<double>(before)) * (gains[after] - gains[before]);
    (*gain)[line] = static_cast<float>(std::pow(10.0, db / 20.0));
  }
  return gain;
}

Grid polar_grid(const BeamsPlan& plan) {
  const LineRanges& ranges = plan.lines->ranges;
  Grid grid;
  grid.x = {ranges.first, ranges.at(ranges.count - 1), ranges.count};
  const LineFan& fan = plan.fan;
  const Axis azimuths{Metres(fan.first), Metres(fan.at(fan.lines - 1)), fan.azimuths()};
  const Axis elevations{Metres(fan.first_elevation), Metres(fan.elevation_at(fan.lines - 1)), fan.elevations};
  grid.z = fan.elevations > 1 ? elevations : azimuths;
  if (fan.volume()) grid.y = azimuths;
  return grid;
}

const BeamsPlan& beams_plan_of(const ImagingSetup& setup) {
  return plan_as<BeamsPlan>(setup);
}

std::shared_ptr<const ImagingSetup> make_beams_setup(const std::shared_ptr<const BeamsPlan>& plan) {
  return make_setup(plan, beams_name, plan->gate, make_recipe(*plan));
}

void BeamsPlan::take_display(const ImagingSettings& settings) {
  MethodPlan::take_display(settings);
  const BeamsSection& wanted = beams(settings);
  section.time_gain = wanted.time_gain;
  section.time_gain_depths = wanted.time_gain_depths;
  section.lateral_gain = wanted.lateral_gain;
  section.compound = wanted.compound;
  section.persistence = wanted.persistence;
  if (doppler) doppler->threshold = threshold_of(echoform::doppler(settings));
  m_mode = resolve_m_mode(settings, fan);
  spectrum = resolve_spectrum(settings, fan, lines->ranges, doppler);
}

}  // namespace echoform
