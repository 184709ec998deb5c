#include "methods/tfm/recipe.hpp"

#include <utility>

#include "delay_laws/leg_bounds.hpp"
#include "methods/tfm/adaptive_pixels.hpp"
#include "methods/tfm/pixel_flow.hpp"
#include "methods/tfm/stage_options.hpp"
#include "stages/beamform/adaptive_beamform.hpp"
#include "stages/beamform/beamform.hpp"
#include "stages/compression/compression.hpp"
#include "stages/envelope/envelope.hpp"

namespace echoform {

std::size_t first_alike(const ImagingPlan& plan, const PlanPairs& pairs, std::size_t view) {
  if (!pairs.mirrors_alike) return view;
  for (std::size_t other = 0; other < view; ++other) {
    if (mirrored(plan.laws[other], plan.laws[view])) return other;
  }
  return view;
}

namespace {

/// Adds the image of a view, computed from analytic rows.
std::size_t add_image(Recipe& recipe, const ImagingPlan& plan, const PlanPairs& pairs, std::size_t view, std::size_t analytic) {
  BeamformOptions sum = beamform_options(plan, pairs, view);
  if (!weighs_adaptively(plan)) return recipe.add(beamform_stage, std::move(sum), {analytic});
  return recipe.add(adaptive_beamform_stage, AdaptiveBeamformOptions{std::move(sum), plan.adaptive}, {analytic});
}

}  // namespace

Recipe make_tfm_recipe(const ImagingPlan& plan) {
  Recipe recipe;
  std::vector<PlanPairs> at_positions;
  for (const PositionPlan& position : plan.positions) at_positions.push_back(plan_pairs(*position.plan));
  const bool several = !at_positions.empty();
  const PlanPairs pairs = several ? PlanPairs{} : plan_pairs(plan);
  std::size_t rows = recipe.add(pairing_stage, several ? pairing_options(plan, at_positions) : pairing_options(plan, pairs), {0});
  if (pairs.coded) rows = recipe.add(decoding_stage, decoding_options(plan, pairs), {rows});
  const std::size_t analytic = recipe.add(analytic_signal_stage, analytic_signal_options(plan), {rows});
  if (plan.doppler) {
    add_pixel_flow(recipe, plan, pairs, analytic);
    return recipe;
  }
  for (std::size_t view = 0; view < plan.laws.size(); ++view) {
    const std::string& name = plan.laws[view].view;
    const std::size_t image = several ? recipe.add(beamform_sum_stage, beamform_options(plan, at_positions, view), {analytic})
                                      : add_image(recipe, plan, pairs, first_alike(plan, pairs, view), analytic);
    const std::size_t envelope = recipe.add(envelope_stage, EnvelopeOptions{}, {image});
    if (plan.wish.complex_images) {
      const std::size_t compressed = plan.wish.display ? recipe.add(compression_stage, plan.compression, {envelope}) : 0;
      recipe.outputs.push_back({{name, OutputKind::complex_image, plan.grid}, image, compressed});
    }
    add_grid_image(recipe, {name, OutputKind::envelope, plan.grid}, envelope, grid_display(plan));
  }
  return recipe;
}

}  // namespace echoform
