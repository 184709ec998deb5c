// Notes in a frame's slot the time that its steps took.
#pragma once

#include <chrono>
#include <string_view>

#include "pipeline/frame_slot.hpp"

namespace echoform {

/// Adds the duration to the slot's timing of that name: stages of several views add up. Does not allocate where the slot's
/// timings have spare capacity.
void add_timing(FrameSlot& slot, std::string_view name, std::chrono::nanoseconds duration) noexcept;

}  // namespace echoform
