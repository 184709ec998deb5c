#include "methods/tfm/setup.hpp"

#include <set>

#include "methods/tfm/frame_groups.hpp"
#include "methods/tfm/recipe.hpp"

namespace echoform {
namespace {

/// Bytes of the travel times that legs keep, computed or not; views share legs.
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
  return plan_as<ImagingPlan>(setup);
}

std::shared_ptr<const ImagingSetup> make_imaging_setup(const std::shared_ptr<const ImagingPlan>& plan) {
  validate(*plan, "imaging plan");
  auto setup = make_setup(plan, tfm_name, plan->imaged_samples(), make_tfm_recipe(*plan));
  setup->tables_bytes = leg_tables_bytes(*plan);
  if (plan->by_groups) setup->groups = make_frame_groups(plan, setup->tables_bytes);
  return setup;
}

std::shared_ptr<const ImagingSetup> make_imaging_setup(const std::shared_ptr<const ImagingPlan>& plan, const OutputWish& wish) {
  auto other = std::make_shared<ImagingPlan>(*plan);
  other->wish = wish;
  return make_imaging_setup(other);
}

}  // namespace echoform
