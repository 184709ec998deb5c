#include "engines/chain.hpp"

#include "base/planning.hpp"
#include "methods/tfm/stage_registry.hpp"

namespace echoform {

Step make_step(std::string_view name, const ImagingPlan& plan, std::size_t view, Backend& backend, const BlockSpec& input) {
  keep_planning();
  Step step;
  step.name = name;
  step.stage = make_stage(name, plan, view, backend);
  step.output = step.stage->prepare(input);
  return step;
}

void add_timing(FrameSlot& slot, std::string_view name, std::chrono::nanoseconds duration) noexcept {
  for (std::size_t k = 0; k < slot.timing_count; ++k) {
    if (slot.timings[k].stage == name) {
      slot.timings[k].duration += duration;
      return;
    }
  }
  if (slot.timing_count < stage_timing_capacity) slot.timings[slot.timing_count++] = {name, duration};
}

}  // namespace echoform
