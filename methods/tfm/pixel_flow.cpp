#include "methods/tfm/pixel_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "acquisition/firings.hpp"
#include "base/errors.hpp"
#include "delay_laws/view.hpp"
#include "methods/method.hpp"
#include "methods/shown_images.hpp"
#include "methods/tfm/adaptive_pixels.hpp"
#include "methods/tfm/plan.hpp"
#include "methods/tfm/section.hpp"
#include "methods/tfm/stage_options.hpp"
#include "pipeline/recipe.hpp"
#include "stages/autocorrelation/autocorrelation.hpp"
#include "stages/envelope/envelope.hpp"
#include "stages/flow/flow.hpp"
#include "stages/line_blend/line_blend.hpp"
#include "stages/wall_filter/wall_filter.hpp"

namespace echoform {
namespace {

/// A table that averages each plane of autocorrelations over the rows above and below it along z, as far as they exist.
std::shared_ptr<const LineBlendTable> window_table(const Grid& grid, std::size_t half_window) {
  auto table = std::make_shared<LineBlendTable>();
  table->ranges = grid.x.count;
  const std::size_t depths = grid.z.count;
  // Table n averages n + 1 rows.
  for (std::size_t n = 0; n < std::min(2 * half_window + 1, depths); ++n) {
    table->weights.insert(table->weights.end(), grid.x.count, 1.0F / static_cast<float>(n + 1));
  }
  for (std::size_t z = 0; z < depths; ++z) {
    const std::size_t first = z - std::min(z, half_window);
    const std::size_t last = std::min(z + half_window, depths - 1);
    for (std::size_t y = 0; y < grid.y.count; ++y) {
      for (std::size_t plane = 0; plane < autocorrelation_planes; ++plane) {
        std::vector<BlendTerm>& terms = table->lines.emplace_back();
        for (std::size_t from = first; from <= last; ++from) {
          const std::size_t row = (from * grid.y.count + y) * autocorrelation_planes + plane;
          terms.push_back({static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(last - first)});
        }
      }
    }
  }
  return table;
}

/// The velocity that converts phase rotations from one sample to the next into velocities along z. The phase of waves that return
/// in another mode rotates by the mean of both slownesses. Views that modes do not name count as longitudinal.
MetresPerSecond velocity_of_turns(const ImagingSettings& settings, const Material& material) {
  const std::string view = canonical_view_name(tfm(settings).views.front());
  if (view == "TT") return material.shear_velocity;
  if (view != "LT" && view != "TL") return material.longitudinal_velocity;
  return MetresPerSecond(2.0 / (1.0 / material.longitudinal_velocity.value + 1.0 / material.shear_velocity.value));
}

}  // namespace

std::optional<DopplerPlan> resolve_pixel_flow(const ImagingSettings& settings, const ImagingPlan& plan) {
  if (!wants_flow(settings)) return std::nullopt;
  const auto refuse = [&](std::string_view key, const std::string& found, std::string_view expected) {
    throw InputError(settings.place(fmt::format("[imaging] {}", key)), fmt::format("{} with [doppler] pulse_repetition", found),
                     std::string(expected));
  };
  const TfmSection& section = tfm(settings);
  if (!section.events.empty()) refuse("events", "a choice", "all events: they are the samples of ensembles");
  if (section.compounded != 0) refuse("compounded", fmt::format("{}", section.compounded), "all events");
  if (section.views.size() != 1) refuse("views", fmt::format("{} views", section.views.size()), "one view");
  if (names_skip(section.views.front())) {
    refuse("views", '"' + section.views.front() + '"',
           "a view straight to the pixels and back: off a wall, what moves along z turns nothing");
  }
  if (section.adaptive.kind != AdaptiveOptions().kind) {
    refuse("adaptive", '"' + section.adaptive.kind + '"', "no adaptive weights: they change from sample to sample");
  }
  if (!plan.acquisition.positions.empty()) {
    throw InputError(settings.place("[doppler] pulse_repetition"), "several positions of the probe within a frame",
                     "frames of one position");
  }
  if (const auto bond = bond_of_events(plan.acquisition)) {
    throw InputError(settings.place("[doppler] pulse_repetition"), *bond, "events that each tell by themselves");
  }
  return find_doppler(settings, plan.acquisition, velocity_of_turns(settings, plan.material));
}

std::vector<std::uint32_t> first_samples(const DopplerPlan& doppler) {
  std::vector<std::uint32_t> events;
  for (const std::vector<std::uint32_t>& ensemble : doppler.ensembles.events) events.push_back(ensemble.front());
  return events;
}

std::size_t flow_half_window(const ImagingSettings& settings, const ImagingPlan& plan) {
  if (plan.grid.z.count < 2) return 0;
  return half_window_of(doppler(settings), *plan.doppler, velocity_of_turns(settings, plan.material), plan.grid.z.spacing());
}

PairingOptions flow_pairing_options(const ImagingPlan& plan) {
  const Ensembles& ensembles = plan.doppler->ensembles;
  auto sources = std::make_shared<std::vector<PairSource>>();
  std::vector<std::uint32_t> events(ensembles.events.size());
  for (std::size_t n = 0; n < ensembles.samples; ++n) {
    std::ranges::transform(ensembles.events, events.begin(), [n](const auto& ensemble) { return ensemble[n]; });
    const PairingOptions image = pairing_of(plan.acquisition, false, plan.amplitude_scale(), events);
    sources->insert(sources->end(), image.sources->begin(), image.sources->end());
  }
  return {plan.acquisition.a_scans(), std::move(sources), plan.amplitude_scale()};
}

void add_pixel_flow(Recipe& recipe, const ImagingPlan& plan, const PlanPairs& pairs, std::size_t analytic) {
  const DopplerPlan& doppler = *plan.doppler;
  const std::size_t ensemble = doppler.ensembles.samples;
  std::size_t samples =
      recipe.add(beamform_ensemble_stage, BeamformEnsembleOptions{beamform_options(plan, pairs, 0), ensemble}, {analytic});
  const std::string& view = plan.laws.front().view;
  // The mean is taken over envelopes: in a mean of complex images, echoes that change from sample to sample would vanish.
  const std::size_t envelope = recipe.add(envelope_stage, EnvelopeOptions{ensemble}, {samples});
  const GridDisplay display = grid_display(plan);
  add_grid_image(recipe, {view, OutputKind::envelope, plan.grid}, envelope, display);

  if (doppler.wall_filter.kind != WallFilterKind::none) samples = recipe.add(wall_filter_stage, doppler.wall_filter, {samples});
  AutocorrelationOptions alone = doppler.autocorrelation;
  alone.half_window = 0;  // averages along x only
  std::size_t correlations = recipe.add(autocorrelation_stage, alone, {samples});
  if (doppler.autocorrelation.half_window > 0) {
    const auto window = window_table(plan.grid, doppler.autocorrelation.half_window);
    correlations = recipe.add(line_blend_stage, LineBlendOptions{window}, {correlations});
  }
  for (const FlowImage& image : flow_images(doppler)) {
    const FlowOptions options{image.kind, doppler.nyquist, doppler.threshold};
    OutputDescription description = image.description;
    description.grid = plan.grid;
    add_grid_image(recipe, description, recipe.add(flow_stage, options, {correlations}), display);
  }
}

}  // namespace echoform
