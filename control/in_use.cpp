#include "control/in_use.hpp"

#include "config/configuration.hpp"
#include "config/key_table.hpp"

namespace echoform {

std::string value_in_use(const LiveKey& live, const ImagingPlan& plan) {
  // A configuration that asks for just what the plan is, shown by the table of keys.
  Configuration asked;
  const auto velocity = [](MetresPerSecond value) {
    return value.value > 0.0 ? std::optional<MetresPerSecond>(value) : std::nullopt;
  };
  asked.material.longitudinal_velocity = velocity(plan.material.longitudinal_velocity);
  asked.material.shear_velocity = velocity(plan.material.shear_velocity);
  asked.grid.x = {plan.grid.x.first, plan.grid.x.last};
  asked.grid.z = {plan.grid.z.first, plan.grid.z.last};
  const Grid& shown = plan.display_grid.value_or(plan.grid);
  asked.display.x = {shown.x.first, shown.x.last};
  asked.display.z = {shown.z.first, shown.z.last};
  asked.display.pixels = {shown.x.count, shown.z.count};
  asked.acquisition.time_offset = plan.acquisition.time_offset;
  return live.key().show(asked);
}

}  // namespace echoform
