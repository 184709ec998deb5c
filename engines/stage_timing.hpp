// What a frame's slot is told of the time that its steps took.
#pragma once

#include <chrono>
#include <string_view>

#include "pipeline/frame_slot.hpp"

namespace echoform {

/// Adds to what the slot has under that name already: stages of several views add up. Does not allocate where the slot's timings
/// have room.
void add_timing(FrameSlot& slot, std::string_view name, std::chrono::nanoseconds duration) noexcept;

}  // namespace echoform
