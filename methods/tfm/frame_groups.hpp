// Frames of the total focusing method by groups: the pairs or events of acquisition/pair_groups.hpp. Each group passes the
// chain of a whole frame up to the complex images.
#pragma once

#include <cstddef>
#include <memory>

#include "methods/tfm/plan.hpp"
#include "pipeline/frame_groups.hpp"

namespace echoform {

/// The groups of a valid plan whose frames are not rows of a code. `tables_bytes` is the memory of its legs' tables.
/// Weights, and the divisor of the sum, are those of the whole frame.
[[nodiscard]] std::shared_ptr<const FrameGroups> make_frame_groups(std::shared_ptr<const ImagingPlan> plan,
                                                                   std::size_t tables_bytes);

}  // namespace echoform
