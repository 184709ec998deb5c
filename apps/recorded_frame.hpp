// A recording's frame for imaging.
#pragma once

#include <cstddef>

#include "formats/recording.hpp"
#include "pipeline/frame_slot.hpp"

namespace echoform {

/// What frame `frame` (below frames()) is, with its samples as the file has them: counts stay counts, as a sender's would, so
/// that [acquisition] sample_scale replaces their scale and nothing is rounded before imaging. The probe is that of the frame.
[[nodiscard]] Acquisition recorded_acquisition(const Recording& recording, std::size_t frame);

/// A line in the log for each warning.
void log_warnings(const Recording& recording);

/// Fills the samples of a slot that an engine of a plan for recorded_acquisition() has equipped. Throws as read_frame().
void read_recorded_frame(Recording& recording, std::size_t frame, FrameSlot& slot);

}  // namespace echoform
