#include "methods/tfm/stage_options.hpp"

#include <fmt/format.h>

#include "base/errors.hpp"
#include "delay_laws/selected_leg.hpp"

namespace echoform {
namespace {

/// By event.
std::vector<std::uint32_t> firing_elements(const Acquisition& acquisition) {
  std::vector<std::uint32_t> firing;
  for (std::size_t event = 0; event < acquisition.event_count(); ++event) {
    const auto element = firing_element(acquisition, event);
    if (!element) {
      throw InputError(fmt::format("transmit event {}", event), "one in which several elements fire", "one element an event");
    }
    firing.push_back(static_cast<std::uint32_t>(*element));
  }
  return firing;
}

bool is_every_element(const std::vector<std::uint32_t>& firing, std::size_t elements) {
  for (std::size_t event = 0; event < firing.size(); ++event) {
    if (firing[event] != event) return false;
  }
  return firing.size() == elements;
}

}  // namespace

UnpackOptions unpack_options(const ImagingPlan& plan) {
  return {plan.amplitude_scale()};
}

bool fires_every_element(const Acquisition& acquisition) {
  return is_every_element(firing_elements(acquisition), acquisition.elements());
}

bool reciprocal(const ImagingPlan& plan) {
  return plan.reciprocal() && fires_every_element(plan.acquisition);
}

PairingOptions pairing_options(const ImagingPlan& plan) {
  return pairing_of(plan.acquisition, reciprocal(plan), plan.amplitude_scale());
}

BeamformOptions beamform_options(const ImagingPlan& plan, std::size_t view) {
  const Acquisition& acquisition = plan.acquisition;
  std::vector<std::uint32_t> firing = firing_elements(acquisition);
  BeamformOptions options;
  options.law = plan.laws.at(view);
  options.grid = plan.grid;
  options.pairs = combined_rows(acquisition, reciprocal(plan));
  options.aperture = {acquisition.probe, {}, plan.material.longitudinal_velocity, plan.apodization};
  if (!is_every_element(firing, acquisition.elements())) {
    options.aperture.firing = firing;
    options.law.transmit = select_sources(options.law.transmit, std::move(firing));
  }
  options.interpolation = plan.interpolation;
  options.sample_rate = acquisition.sample_rate;
  options.start_time = acquisition.start_time;
  options.time_offset = acquisition.time_offset;
  options.gate = plan.imaged_samples();
  // Pairs that were not received count as zeros.
  const auto n = static_cast<float>(acquisition.elements());
  options.scale = 1.0F / (n * n);
  return options;
}

AnalyticSignalOptions analytic_signal_options(const ImagingPlan& plan) {
  AnalyticSignalOptions options;
  options.half = plan.accuracy >= half_path_accuracy;
  options.nearest = plan.interpolation == Interpolation::nearest;
  return options;
}

ScanConversionOptions scan_conversion_options(const ImagingPlan& plan) {
  return {plan.grid, plan.display_grid.value_or(plan.grid), plan.scan_interpolation, plan.cubic_alpha};
}

}  // namespace echoform
