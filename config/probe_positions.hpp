// The positions of the probe within a frame that [acquisition] states.
#pragma once

#include <vector>

#include "acquisition/pose.hpp"
#include "config/configuration.hpp"

namespace echoform {

/// The positions of the key `positions`, or of the line that position_count, position_step and position_direction make; empty
/// where neither is stated, or one position that leaves the probe where it is. Throws InputError, naming configuration and key,
/// for rows of neither 3 nor 9 numbers, directions without length or parallel, a list and a line, and a step without a count.
[[nodiscard]] std::vector<Pose> stated_positions(const ImagingSettings& settings);

}  // namespace echoform
