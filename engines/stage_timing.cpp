#include "engines/stage_timing.hpp"

namespace echoform {

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
