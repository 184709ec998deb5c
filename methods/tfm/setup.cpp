#include "methods/tfm/setup.hpp"

#include <set>
#include <utility>

#include "methods/display_settings.hpp"
#include "methods/shown_images.hpp"
#include "methods/tfm/frame_groups.hpp"
#include "methods/tfm/pixel_flow.hpp"
#include "methods/tfm/recipe.hpp"

namespace echoform {
namespace {

/// Of travel times that legs keep, made or not: views share legs.
std::size_t leg_tables_bytes(const ImagingPlan& plan) {
  if (!plan.positions.empty()) {
    std::size_t bytes = 0;
    for (const PositionPlan& position : plan.positions) bytes += leg_tables_bytes(*position.plan);
    return bytes;
  }
  std::set<const Leg*> legs;
  for (const DelayLaw& law : plan.laws) {
    legs.insert({law.transmit.get(), law.receive.get()});
    if (const auto elements = law.transmit->of_elements()) legs.insert(elements.get());
  }
  std::size_t bytes = 0;
  for (const Leg* leg : legs) bytes += leg->table_bytes(plan.grid, plan.apodization.angular());
  return bytes;
}

}  // namespace

const ImagingPlan& plan_of(const ImagingSetup& setup) {
  return *std::any_cast<const std::shared_ptr<const ImagingPlan>&>(setup.of_method);
}

std::shared_ptr<const ImagingSetup> make_imaging_setup(std::shared_ptr<const ImagingPlan> plan, const OutputWish& wish) {
  validate(*plan, "imaging plan");
  auto setup = std::make_shared<ImagingSetup>();
  setup->settings_revision = plan->settings_revision;
  setup->acquisition = plan->acquisition;
  setup->material = plan->material;
  setup->gate = plan->imaged_samples();
  setup->recipe = make_tfm_recipe(*plan, wish);
  setup->scale = scale_of(plan->compression);
  setup->outlines = plan->outlines;
  setup->tables_bytes = leg_tables_bytes(*plan);
  setup->notes = plan->notes;
  setup->warnings = plan->warnings;
  setup->method = tfm_name;
  if (plan->by_groups) setup->groups = make_frame_groups(plan, setup->tables_bytes);
  setup->of_method = std::move(plan);
  return setup;
}

std::shared_ptr<const ImagingSetup> with_compression(const ImagingSetup& before, const Compression& compression,
                                                     std::uint64_t revision, std::optional<double> flow_threshold) {
  validate(compression, "settings");
  auto plan = std::make_shared<ImagingPlan>(plan_of(before));
  plan->compression = compression;
  plan->settings_revision = revision;
  auto setup = std::make_shared<ImagingSetup>(before);
  retune_compression(setup->recipe, compression);
  if (plan->doppler && flow_threshold) {
    plan->doppler->threshold = *flow_threshold;
    set_flow_threshold(setup->recipe, *flow_threshold);
  }
  setup->settings_revision = revision;
  setup->scale = scale_of(compression);
  setup->of_method = std::shared_ptr<const ImagingPlan>(std::move(plan));
  return setup;
}

}  // namespace echoform
