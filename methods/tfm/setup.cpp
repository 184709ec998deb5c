#include "methods/tfm/setup.hpp"

#include <utility>

namespace echoform {
namespace {

DisplayScale scale_of(const Compression& compression) {
  DisplayScale scale{compression.dynamic_range_db, compression.gain_db, std::nullopt};
  if (compression.reference == ReferenceMode::fixed) scale.fixed_reference = compression.reference_value;
  return scale;
}

Recipe outputs_of(const ImagingPlan& plan, const OutputWish& wish) {
  Recipe recipe;
  for (const DelayLaw& law : plan.laws) {
    if (wish.complex_images) recipe.outputs.push_back({{law.view, OutputKind::complex_image, plan.grid}});
    recipe.outputs.push_back({{law.view, OutputKind::envelope, plan.grid}});
    if (wish.display) {
      recipe.outputs.push_back({{law.view, OutputKind::display, plan.display_grid.value_or(plan.grid)}});
    }
  }
  return recipe;
}

}  // namespace

std::shared_ptr<const ImagingSetup> make_imaging_setup(std::shared_ptr<const ImagingPlan> plan, const OutputWish& wish) {
  auto setup = std::make_shared<ImagingSetup>();
  setup->settings_revision = plan->settings_revision;
  setup->acquisition = plan->acquisition;
  setup->material = plan->material;
  setup->gate = plan->imaged_samples();
  setup->recipe = outputs_of(*plan, wish);
  setup->scale = scale_of(plan->compression);
  setup->outlines = plan->outlines;
  setup->plan = std::move(plan);
  return setup;
}

std::shared_ptr<const ImagingSetup> with_compression(const ImagingSetup& before, const Compression& compression,
                                                     std::uint64_t revision) {
  validate(compression, "settings");
  auto plan = std::make_shared<ImagingPlan>(*before.plan);
  plan->compression = compression;
  plan->settings_revision = revision;
  auto setup = std::make_shared<ImagingSetup>(before);
  setup->settings_revision = revision;
  setup->scale = scale_of(compression);
  setup->plan = std::move(plan);
  return setup;
}

}  // namespace echoform
