#include "methods/tfm/stage_options.hpp"

#include <memory>
#include <numeric>
#include <utility>

#include "acquisition/firings.hpp"
#include "acquisition/frame_layout.hpp"
#include "delay_laws/selected_leg.hpp"
#include "methods/tfm/adaptive_pixels.hpp"
#include "methods/tfm/element_roles.hpp"
#include "methods/tfm/pixel_flow.hpp"
#include "methods/tfm/recipe.hpp"

namespace echoform {
namespace {

/// The number of ordered pairs by which the sum over a frame is divided. If all elements record firings of single elements, or if
/// a code is decoded, it is that of all pairs of elements. If firings have receivers of their own, it is the number of declared
/// A-scans. In both cases, A-scans that were not fired or not chosen count as zeros, and so do dead elements. For anything else,
/// which is waves and frames with positions of the probe, it is the number of declared A-scans of the imaged events, including
/// dead ones.
std::size_t divisor_of(const ImagingPlan& plan) {
  const Acquisition& acquisition = plan.acquisition;
  const bool single = fires_single_elements(acquisition);
  if (acquisition.positions.empty() && (coded(acquisition) || (single && received_by_all(acquisition)))) {
    return acquisition.elements() * acquisition.elements();
  }
  if (plan.events.empty() || (single && acquisition.positions.empty())) return acquisition.a_scans();
  const FrameLayout layout(acquisition);
  return std::accumulate(plan.events.begin(), plan.events.end(), std::size_t{0},
                         [&](std::size_t sum, std::uint32_t event) { return sum + layout.shot(event).count; });
}

bool is_every_element(const std::vector<std::uint32_t>& firing, std::size_t elements) {
  for (std::size_t event = 0; event < firing.size(); ++event) {
    if (firing[event] != event) return false;
  }
  return firing.size() == elements;
}

}  // namespace

PlanPairs plan_pairs(const ImagingPlan& plan) {
  PlanPairs pairs;
  pairs.waves = launches_waves(plan.acquisition);
  pairs.coded = coded(plan.acquisition);
  // If weights depend on what the other receivers received, receivers cannot replace transmitters.
  pairs.reciprocal = !pairs.waves && plan.events.empty() && plan.reciprocal() && !weighs_adaptively(plan);
  if (pairs.coded) {
    const std::size_t elements = plan.acquisition.elements();
    pairs.rows = pairs.reciprocal ? summed_pairs(elements) : all_pairs(elements, elements);
    return pairs;
  }
  if (!pairs.waves) pairs.firing = firing_elements(plan.acquisition, plan.events);
  pairs.mirrors_alike = plan.apodization.symmetric() && !weighs_adaptively(plan) &&
                        combined_rows(plan.acquisition, false, plan.events).any_reversed();
  pairs.rows = combined_rows(plan.acquisition, pairs.reciprocal, plan.events);
  if (pairs.rows.summed || is_every_element(pairs.firing, plan.acquisition.elements())) pairs.firing.clear();
  return pairs;
}

PairingOptions pairing_options(const ImagingPlan& plan, const PlanPairs& pairs) {
  if (plan.doppler) return flow_pairing_options(plan);
  return pairing_of(plan.acquisition, pairs.reciprocal && !pairs.coded, plan.amplitude_scale(), plan.events);
}

DecodingOptions decoding_options(const ImagingPlan& plan, const PlanPairs& pairs) {
  return decoding_of(plan.acquisition, pairs.reciprocal);
}

BeamformOptions beamform_options(const ImagingPlan& plan, const PlanPairs& pairs, std::size_t view) {
  const Acquisition& acquisition = plan.acquisition;
  BeamformOptions options;
  options.law = plan.laws.at(view);
  options.grid = plan.grid;
  options.pairs = pairs.rows;
  options.aperture = {acquisition.probe, pairs.firing, {}, plan.material.longitudinal_velocity, plan.apodization};
  if (!pairs.firing.empty()) options.law.transmit = select_sources(options.law.transmit, pairs.firing);
  options.interpolation = plan.interpolation;
  options.sample_rate = acquisition.sample_rate;
  options.start_time = acquisition.start_time;
  options.time_offset = acquisition.time_offset;
  options.gate = plan.imaged_samples();
  options.scale = 1.0F / static_cast<float>(divisor_of(plan));
  if (pairs.waves) {
    options.aperture.event_weights = plan.event_weights;
    options.aperture.event_weights.resize(pairs.rows.events, 1.0F);
    const std::vector<std::uint32_t> events = chosen_or_all_events(acquisition, plan.events);
    for (std::size_t k = 0; k < events.size(); ++k) options.aperture.event_weights[k] *= polarity_of(acquisition, events[k]);
    if (!plan.events.empty()) options.law.transmit = select_sources(options.law.transmit, plan.events);
  }
  return options;
}

PairingOptions pairing_options(const ImagingPlan& plan, const std::vector<PlanPairs>& pairs) {
  const FrameLayout frame(plan.acquisition);
  auto sources = std::make_shared<std::vector<PairSource>>();
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const PositionPlan& position = plan.positions[k];
    const std::vector<std::size_t> row_of = rows_of_events(frame, position.events);
    const PairingOptions alone = pairing_options(*position.plan, pairs[k]);
    for (PairSource source : *alone.sources) {
      if (source.weight != 0.0F) source = {row_of[source.first], row_of[source.second], source.weight};
      sources->push_back(source);
    }
  }
  return {plan.acquisition.a_scans(), std::move(sources), plan.amplitude_scale()};
}

std::vector<std::size_t> rows_of_events(const FrameLayout& frame, const std::vector<std::uint32_t>& events) {
  std::vector<std::size_t> rows;
  for (const std::uint32_t event : events) {
    const RowRange shot = frame.shot(event);
    for (std::size_t row = 0; row < shot.count; ++row) rows.push_back(shot.first + row);
  }
  return rows;
}

BeamformOptions beamform_options_of_part(const ImagingPlan& plan, const ImagingPlan& part, const PlanPairs& pairs,
                                         std::size_t view) {
  BeamformOptions options = beamform_options(part, pairs, first_alike(part, pairs, view));
  options.scale = 1.0F / static_cast<float>(divisor_of(plan));
  return options;
}

BeamformSumOptions beamform_options(const ImagingPlan& plan, const std::vector<PlanPairs>& pairs, std::size_t view) {
  BeamformSumOptions sum;
  std::size_t rows = 0;
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    BeamformPart& part = sum.parts.emplace_back();
    part.first_row = rows;
    part.options = beamform_options_of_part(plan, *plan.positions[k].plan, pairs[k], view);
    rows += pairs[k].rows.rows;
  }
  std::size_t first = 0;
  for (BeamformPart& part : sum.parts) {
    first += part.options.pairs.rows;
    part.options.rows_behind = rows - first;
  }
  return sum;
}

AnalyticSignalOptions analytic_signal_options(const ImagingPlan& plan) {
  AnalyticSignalOptions options;
  // In half precision, echoes of flow are lost below the rounding of tissue's echoes.
  options.half = plan.accuracy >= half_path_accuracy && !plan.doppler && !weighs_adaptively(plan);
  options.nearest = plan.interpolation == Interpolation::nearest;
  options.filter = plan.filter;
  return options;
}

GridDisplay grid_display(const ImagingPlan& plan) {
  return display_of_plan(plan, plan.display_grid, plan.wish.display);
}

}  // namespace echoform
