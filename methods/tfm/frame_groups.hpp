// Frames of the total focusing method by groups: pairs or events of acquisition/pair_groups.hpp, each through the chain of a
// whole frame as far as the complex images.
#pragma once

#include <cstddef>
#include <memory>

#include "methods/tfm/plan.hpp"
#include "pipeline/frame_groups.hpp"

namespace echoform {

/// Of a valid plan whose frames are no rows of a code; `tables_bytes` is what its legs' tables take. Weights, and what the sum is
/// divided by, are those of the whole frame.
[[nodiscard]] std::shared_ptr<const FrameGroups> make_frame_groups(std::shared_ptr<const ImagingPlan> plan,
                                                                   std::size_t tables_bytes);

}  // namespace echoform
