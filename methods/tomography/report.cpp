#include "methods/tomography/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>
#include <optional>
#include <string>
#include <utility>

#include "methods/filter_settings.hpp"

namespace echoform {
namespace {

std::string in_millimetres(double metres) {
  return fmt::format("{:.4g} mm", 1e3 * metres);
}

void report_detectors(SetupReport& report, const TomographyPlan& plan) {
  const WavelengthPlan& first = plan.wavelengths.front();
  const std::size_t positions = std::max<std::size_t>(1, plan.acquisition.positions.size());
  report.row("detectors", fmt::format("{} on {}, of {} elements at {} position{}", first.detectors.size(), plan.surface.text(),
                                      plan.acquisition.elements(), positions, positions == 1 ? "" : "s"));
  const double degrees_of = plan.surface.flat ? 180.0 / std::numbers::pi : 1.0;
  report.row("shares", fmt::format("{}, {:.4g} of {:.4g} {}", first.shares.how, first.shares.angle * degrees_of,
                                   first.shares.whole * degrees_of, plan.surface.flat ? "degrees" : "sr"));
  report.values["detectors"] = {{"count", first.detectors.size()},     {"positions", positions},
                                {"radius", plan.surface.radius.value}, {"flat", plan.surface.flat},
                                {"angle", first.shares.angle},         {"whole", first.shares.whole}};
}

void report_wavelengths(SetupReport& report, const TomographyPlan& plan) {
  nlohmann::json values = nlohmann::json::array();
  std::string text;
  for (const WavelengthPlan& image : plan.wavelengths) {
    values.push_back(image.wavelength.value);
    text += fmt::format("{}{}", text.empty() ? "" : ", ",
                        image.wavelength.value > 0.0 ? fmt::format("{:.6g} nm", 1e9 * image.wavelength.value) : "not known");
  }
  report.row("wavelengths", text + (plan.shows_mean ? ", and the mean of their images" : ""));
  report.values["wavelengths"] = values;
}

/// The highest frequency at which half the amplitude of pressures remains. It is limited by the detectors' band, where that is
/// known and no deconvolution undoes it, and by the filters.
std::optional<double> highest_frequency(const TomographyPlan& plan) {
  std::optional<double> highest;
  const auto bound = [&](double frequency) { highest = std::min(frequency, highest.value_or(frequency)); };
  const Probe& probe = plan.acquisition.probe;
  if (!plan.deconvolution && probe.centre_frequency.value > 0.0 && probe.bandwidth.value > 0.0) {
    bound(probe.centre_frequency.value + 0.5 * probe.bandwidth.value);
  }
  if (plan.filter.kind == FilterKind::band) bound(plan.filter.high.value);
  if (plan.deconvolution) bound(0.5 * std::min(plan.deconvolution->cutoff, plan.acquisition.sample_rate).value);
  return highest;
}

/// Reports the resolution as half a wavelength of the highest frequency, as is common practice: 0.5 c / f.
void report_resolution(SetupReport& report, const TomographyPlan& plan) {
  const auto highest = highest_frequency(plan);
  if (!highest) return;
  const double resolution = 0.5 * plan.velocity.value / *highest;
  report.row("resolution", fmt::format("{} at {:.4g} MHz", in_millimetres(resolution), 1e-6 * *highest));
  report.values["resolution"] = resolution;
  const Grid& grid = plan.grid;
  for (const auto& [axis, name] : {std::pair{&grid.x, "x"}, std::pair{&grid.y, "y"}, std::pair{&grid.z, "z"}}) {
    if (axis->count < 2 || axis->spacing().value <= resolution) continue;
    report.warnings.push_back(fmt::format("voxels are {} apart along {}, more than the resolution: [grid] pixels",
                                          in_millimetres(axis->spacing().value), name));
  }
}

}  // namespace

SetupReport report_tomography(const TomographyPlan& plan) {
  SetupReport report;
  report.row("algorithm", fmt::format("{}, {} solid angle", words::tomography_algorithm.of(plan.section.algorithm),
                                      words::share_divisor.of(plan.section.normalise)));
  report_detectors(report, plan);
  report_wavelengths(report, plan);
  if (plan.unmixing) {
    std::string names;
    for (const std::string& name : plan.unmixing->components) names += (names.empty() ? "" : ", ") + name;
    report.row("unmixing", names + (plan.unmixing->options.non_negative ? ", at least 0" : "") +
                               (plan.unmixing->saturation ? "; saturation of HbO2 + Hb" : ""));
    report.values["unmixing"] = {{"components", plan.unmixing->components}, {"absorption", plan.unmixing->options.absorption}};
  }
  if (plan.object) {
    const auto& [x, y, z] = plan.object->radii;
    report.row("object", fmt::format("{:g} m/s within {:.4g} x {:.4g} x {:.4g} mm, {:g} m/s around", plan.object->velocity.value,
                                     2e3 * x.value, 2e3 * y.value, 2e3 * z.value, plan.velocity.value));
  }
  report_resolution(report, plan);
  const double latest = plan.reach.latest;
  const double images = 1.0 / (latest * static_cast<double>(plan.acquisition.event_count()));
  report.row("sound", fmt::format("arrives after {:.4g} to {:.4g} us, {:.4g} images/s of {} pulses", 1e6 * plan.reach.earliest,
                                  1e6 * latest, images, plan.acquisition.event_count()));
  report.values["images_per_second_of_sound"] = images;
  report_filter(report, plan.filter);
  if (plan.deconvolution) {
    const DeconvolutionOptions& options = *plan.deconvolution;
    report.row("deconvolution", options.response
                                    ? fmt::format("a response of {} samples, noise {:g}, window to {:.4g} MHz",
                                                  options.response->size(), options.noise, 1e-6 * options.cutoff.value)
                                    : fmt::format("a Gaussian of {:.4g} MHz about {:.4g} MHz, noise {:g}, window to {:.4g} MHz",
                                                  1e-6 * options.bandwidth.value, 1e-6 * options.centre.value, options.noise,
                                                  1e-6 * options.cutoff.value));
    report.values["deconvolution"] = {{"noise", options.noise}, {"cutoff", options.cutoff.value}};
  }
  return report;
}

}  // namespace echoform
