#include "methods/tfm/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "acquisition/words.hpp"
#include "base/errors.hpp"
#include "delay_laws/view.hpp"
#include "methods/array_shape.hpp"
#include "methods/filter_settings.hpp"
#include "methods/flow_report.hpp"
#include "methods/tfm/adaptive_pixels.hpp"
#include "methods/tfm/gate.hpp"
#include "methods/tfm/grating_lobes.hpp"
#include "methods/tfm/plan_warnings.hpp"
#include "methods/tfm/report_parts.hpp"
#include "methods/tfm/setup_figures.hpp"

namespace echoform {
namespace {

/// Whether modes name the view. A law of another program may name its views as it likes.
bool named_by_modes(const std::string& view) {
  try {
    static_cast<void>(parse_view(view));
    return true;
  } catch (const InputError&) {
    return false;
  }
}

bool uses(const ImagingPlan& plan, char letter) {
  return std::any_of(plan.laws.begin(), plan.laws.end(), [&](const DelayLaw& law) {
    return law.view.find(letter) != std::string::npos || !named_by_modes(law.view);
  });
}

/// "256 x 256 pixels of 0.16 mm by 0.17 mm".
std::string pixels_text(const Grid& grid) {
  if (grid.y.count == 1) {
    return fmt::format("{} x {} pixels of {} by {}", grid.x.count, grid.z.count, mm(grid.x.spacing()), mm(grid.z.spacing()));
  }
  return fmt::format("{} x {} x {} pixels of {} by {} by {}", grid.x.count, grid.y.count, grid.z.count, mm(grid.x.spacing()),
                     mm(grid.y.spacing()), mm(grid.z.spacing()));
}

void report_waves(SetupReport& report, const ImagingPlan& plan, const std::vector<ReportedMode>& modes, Hertz frequency) {
  const MetresPerSecond couplant = plan.scene.couplant;
  std::string text = for_modes(modes, [&](const ReportedMode& mode) { return mm(wavelength_of(mode.velocity, frequency)); });
  for (const ReportedMode& mode : modes) {
    report.values["wavelength"][std::string(1, mode.letter)] = wavelength_of(mode.velocity, frequency).value;
  }
  if (couplant.value > 0.0) {
    text += fmt::format(", couplant {}", mm(wavelength_of(couplant, frequency)));
    report.values["wavelength"]["couplant"] = wavelength_of(couplant, frequency).value;
  }
  report.row("wavelength", text);

  const ArrayShape shape = array_shape(plan.acquisition.probe);
  const Metres aperture = std::max(shape.aperture, shape.aperture_across);
  const auto near_field = [&](const ReportedMode& mode) {
    return near_field_length(aperture, wavelength_of(mode.velocity, frequency));
  };
  text = for_modes(modes, [&](const ReportedMode& mode) {
    report.values["near_field"][std::string(1, mode.letter)] = near_field(mode).value;
    return mm(near_field(mode));
  });
  const bool wet = couplant.value > 0.0 && plan.scene.surface != nullptr;
  const bool spatial = couplant.value > 0.0 && plan.scene.spatial_surface != nullptr;
  const auto path = wet       ? couplant_path(plan.acquisition.probe, *plan.scene.surface)
                    : spatial ? couplant_path(plan.acquisition.probe, *plan.scene.spatial_surface)
                              : std::nullopt;
  if (path) {
    text += fmt::format(" counted from the elements; {} of couplant leave ", mm(*path)) +
            for_modes(modes,
                      [&](const ReportedMode& mode) {
                        const Metres left = near_field_left(near_field(mode), *path, couplant, mode.velocity);
                        report.values["near_field_left"][std::string(1, mode.letter)] = left.value;
                        return mm(left);
                      }) +
            " in the part";
  }
  report.row("near field", text + "; D^2 / (4 lambda)");
}

void report_positions(SetupReport& report, const ImagingPlan& plan) {
  const std::size_t count = plan.acquisition.positions.size();
  if (count == 0) return;
  const std::size_t imaged = plan.positions.size();
  const PositionPlan& middle = plan.positions[imaged / 2];
  std::string text = fmt::format("{} of the probe, summed coherently", count);
  if (imaged < count) text = fmt::format("{} of {} of the probe, summed coherently", imaged, count);
  const auto at = [&](std::size_t position) { return place_text(plan.acquisition.positions[position].origin); };
  text += fmt::format("; from {} to {}", at(plan.positions.front().position), at(plan.positions.back().position));
  if (imaged > 1) text += fmt::format("; figures of rays and aperture are those of position {} alone", middle.position);
  report.values["positions"] = {{"count", count}, {"imaged", imaged}, {"figures_of", middle.position}};
  report.row("positions", text);
}

void report_samples(SetupReport& report, const ImagingPlan& plan) {
  const Acquisition& acquisition = plan.acquisition;
  const SampleGate imaged = plan.imaged_samples();
  const auto reach = samples_reached(plan);
  const double last = static_cast<double>(acquisition.samples) - 1.0;
  std::string text = fmt::format("{} to {} of {} are imaged ({:.4g} MHz)", imaged.first, imaged.first + imaged.count - 1,
                                 acquisition.samples, 1e-6 * acquisition.sample_rate.value);
  report.values["samples"] = {{"count", acquisition.samples}, {"first", imaged.first}, {"imaged", imaged.count}};
  if (reach) {
    text += fmt::format("; pixels look up {:.0f} to {:.0f}", reach->first, reach->last);
    report.values["samples"]["reached"] = {reach->first, reach->last};
    if (plan.gate) {
      // The gate keeps further samples: the guard, and samples that make its length FFT-friendly.
      const double before = reach->first - static_cast<double>(imaged.first);
      const double behind = static_cast<double>(imaged.first + imaged.count) - 1.0 - reach->last;
      report.values["samples"]["before"] = before;
      report.values["samples"]["behind"] = behind;
      if (before > 0.0 || behind > 0.0) {
        text += fmt::format(", {:.0f} more before and {:.0f} behind are guard and make a length that is quick to transform",
                            std::max(before, 0.0), std::max(behind, 0.0));
      }
    }
  }
  report.row("samples", text);
  const auto dark = plan_warnings(plan);
  report.warnings.insert(report.warnings.end(), dark.begin(), dark.end());
  if (reach && unsampled_warnings(plan).empty()) {
    if (reach->last > last) {
      report.warnings.push_back(
          fmt::format("the image asks for samples up to {:.0f}, the A-scan ends with {:.0f}: pairs of elements "
                      "that are farther off count as 0",
                      reach->last, last));
    }
    if (reach->first < 0.0) {
      report.warnings.push_back(
          fmt::format("the image asks for samples from {:.0f} on, before the A-scan begins: pairs of elements "
                      "that are nearer count as 0",
                      reach->first));
    }
  }
  const std::size_t bytes = acquisition.frame_bytes();
  report.row("frame", fmt::format("{:.4g} MB: {} A-scans of {} samples, {}", 1e-6 * static_cast<double>(bytes),
                                  acquisition.a_scans(), acquisition.samples, words::sample_encoding.of(acquisition.encoding)));
  report.values["frame_bytes"] = bytes;
}

}  // namespace

SetupReport report_plan(const ImagingPlan& plan) {
  SetupReport report;
  const Probe& probe = plan.acquisition.probe;
  // For several positions, the results of rays and apertures are reported for the middle one.
  const ImagingPlan& alone = plan.positions.empty() ? plan : *plan.positions[plan.positions.size() / 2].plan;
  std::vector<ReportedMode> modes;
  for (const ReportedMode mode : {ReportedMode{'L', plan.material.longitudinal_velocity, uses(plan, 'L')},
                                  ReportedMode{'T', plan.material.shear_velocity, uses(plan, 'T')}}) {
    if (mode.velocity.value > 0.0) modes.push_back(mode);
  }
  const ArrayShape shape = array_shape(probe);
  std::string text = fmt::format("{} elements, aperture {}", probe.elements.size(), mm(shape.aperture, shape.aperture_across));
  if (probe.centre_frequency.value > 0.0) text += fmt::format(", {:.4g} MHz", 1e-6 * probe.centre_frequency.value);
  if (probe.bandwidth.value > 0.0) text += fmt::format(", bandwidth {:.4g} MHz", 1e-6 * probe.bandwidth.value);
  report.row("probe", text);
  report.values["elements"] = probe.elements.size();
  report.values["aperture"] = shape.aperture.value;
  if (!shape.line) report.values["aperture_across"] = shape.aperture_across.value;

  if (weighs_adaptively(plan)) {
    report.row("adaptive", fmt::format("{}, over {} pixels along z", plan.adaptive.kind, 2 * plan.adaptive.half_window + 1));
    report.values["adaptive"] = {{"kind", plan.adaptive.kind}, {"window_pixels", 2 * plan.adaptive.half_window + 1}};
  }
  report.row("image", fmt::format("{}, {} view{}", pixels_text(plan.grid), plan.laws.size(), plan.laws.size() == 1 ? "" : "s"));
  report_events(report, plan);
  if (plan.doppler) report_flow(report, *plan.doppler, "z");
  report_positions(report, plan);
  const std::vector<ViewReach> reach = reach_of_views(plan);
  if (probe.centre_frequency.value > 0.0) {
    const std::vector<ViewReach> reach_alone = plan.positions.empty() ? reach : reach_of_views(alone);
    report_waves(report, alone, modes, probe.centre_frequency);
    report_spots(report, alone, reach_alone);
    report_lobes(report, alone, modes, reach_alone);
    report_pixels(report, alone, reach_alone);
  } else {
    report.warnings.emplace_back(
        "the centre frequency is not known ([probe] centre_frequency): wavelengths and what follows from them are left out");
  }
  report_unreached(report, plan, reach);
  report_filter(report, plan.filter);
  report_samples(report, plan);
  return report;
}

}  // namespace echoform
