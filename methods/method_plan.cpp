#include "methods/method_plan.hpp"

#include <algorithm>
#include <utility>

namespace echoform {

MethodPlan::MethodPlan(const ImagingTask& task)
    : settings_revision(task.settings_revision),
      acquisition(task.acquired),
      material(task.velocities),
      sample_scale(task.acquisition.sample_scale),
      compression(section<OutputSection>(task)),
      display(section<DisplaySection>(task)),
      notes(task.notes),
      wish(task.wish) {}

void MethodPlan::take_display(const ImagingSettings& settings) {
  compression = section<OutputSection>(settings);
  validate(compression, "settings");
}

std::shared_ptr<ImagingSetup> make_setup(const std::shared_ptr<const MethodPlan>& plan, std::string_view method, SampleGate gate,
                                         Recipe recipe) {
  auto setup = std::make_shared<ImagingSetup>();
  setup->settings_revision = plan->settings_revision;
  setup->acquisition = plan->acquisition;
  setup->material = plan->material;
  setup->gate = gate;
  setup->recipe = std::move(recipe);
  setup->scale = scale_of(plan->compression);
  setup->outlines = plan->outlines;
  setup->notes = plan->notes;
  setup->warnings = plan->warnings;
  setup->method = method;
  setup->origin = plan;
  return setup;
}

bool same_stages(const Recipe& a, const Recipe& b) {
  return std::ranges::equal(a.steps, b.steps, [](const Step& one, const Step& other) { return one.stage == other.stage; });
}

GridDisplay display_of_plan(const MethodPlan& plan, const std::optional<Grid>& grid, bool wanted) {
  return {wanted, plan.compression, grid, plan.display.interpolation, plan.display.cubic_alpha};
}

}  // namespace echoform
