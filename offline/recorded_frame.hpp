// A recording's frame for imaging.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "formats/recording.hpp"
#include "pipeline/frame_slot.hpp"

namespace echoform {

/// What frame `frame` (below frames()) is, with its samples as the file has them: counts stay counts, as a sender's would, so
/// that [acquisition] sample_scale replaces their scale and nothing is rounded before imaging. The probe is that of the frame.
[[nodiscard]] Acquisition recorded_acquisition(const Recording& recording, std::size_t frame);

/// `frame` as the index of a frame. Throws InputError, naming `option`, where the recording has no such frame.
[[nodiscard]] std::size_t checked_frame(const Recording& recording, std::int64_t frame, std::string_view option);

/// Fills the samples of a slot that an engine of a plan for recorded_acquisition() has equipped. Throws as read_frame().
void read_recorded_frame(Recording& recording, std::size_t frame, FrameSlot& slot);

}  // namespace echoform
