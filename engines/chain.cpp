#include "engines/chain.hpp"

#include <algorithm>

#include "base/errors.hpp"
#include "base/planning.hpp"
#include "methods/tfm/stage_registry.hpp"

namespace echoform {

PreparedStep make_step(std::string_view name, const ImagingPlan& plan, std::size_t view, Backend& backend,
                       const BlockSpec& input) {
  keep_planning();
  PreparedStep step;
  step.name = name;
  step.stage = make_stage(name, plan, view, backend);
  step.output = step.stage->prepare(input);
  return step;
}

std::vector<ViewOutputs> outputs_by_view(const ImagingSetup& setup) {
  std::vector<ViewOutputs> views;
  for (const DelayLaw& law : setup.plan->laws) {
    views.push_back({setup.recipe.find(law.view, OutputKind::complex_image), setup.recipe.find(law.view, OutputKind::envelope),
                     setup.recipe.find(law.view, OutputKind::display)});
  }
  return views;
}

bool wants(const ImagingSetup& setup, OutputKind kind) {
  const auto& outputs = setup.recipe.outputs;
  return std::any_of(outputs.begin(), outputs.end(), [&](const RecipeOutput& output) { return output.description.kind == kind; });
}

std::shared_ptr<const ImagingPlan> checked_plan(const ImagingSetup& setup) {
  if (!setup.plan) throw InputError("imaging setup", "no plan", "one");
  validate(*setup.plan, "imaging plan");
  return setup.plan;
}

bool alike_but_compression(const ImagingPlan& a, const ImagingPlan& b) {
  const auto same_law = [](const DelayLaw& one, const DelayLaw& other) {
    return one.view == other.view && one.transmit == other.transmit && one.receive == other.receive;
  };
  return a.acquisition == b.acquisition && a.sample_scale == b.sample_scale && a.grid == b.grid && a.gate == b.gate &&
         a.interpolation == b.interpolation && a.accuracy == b.accuracy && a.apodization == b.apodization &&
         a.display_grid == b.display_grid && a.scan_interpolation == b.scan_interpolation && a.cubic_alpha == b.cubic_alpha &&
         std::equal(a.laws.begin(), a.laws.end(), b.laws.begin(), b.laws.end(), same_law);
}

void set_reference(const ViewOutputs& outputs, FrameSlot& slot, float reference) noexcept {
  for (const auto& output : {outputs.complex_image, outputs.envelope, outputs.display}) {
    if (output) slot.outputs[*output].reference = reference;
  }
}

void add_timing(FrameSlot& slot, std::string_view name, std::chrono::nanoseconds duration) noexcept {
  for (StageTiming& timing : slot.timings) {
    if (timing.stage == name) {
      timing.duration += duration;
      return;
    }
  }
  if (slot.timings.size() < slot.timings.capacity()) slot.timings.push_back({name, duration});
}

}  // namespace echoform
