// The stages of a frame in order, as every engine has them: half matrix and analytic signal once, the rest for each view.
#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include "pipeline/backend.hpp"
#include "pipeline/frame_slot.hpp"
#include "pipeline/imaging_plan.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

/// A stage with the memory of its output, where nobody else owns it.
struct Step {
  std::string_view name;
  std::unique_ptr<Stage> stage;
  BlockSpec output;
  Buffer block;
};

/// The named stage of the registry for backend.kind(), prepared for `input`; its output has no memory yet.
[[nodiscard]] Step make_step(std::string_view name, const ImagingPlan& plan, std::size_t view, Backend& backend,
                             const BlockSpec& input);

/// What one view adds to the shared front of the chain.
struct ViewChain {
  Step beamform;
  Step envelope;
  Step compression;
  Step scan_conversion;  // no stage where the display grid is the acoustic grid

  /// The step that makes the display image.
  [[nodiscard]] const Step& display() const { return scan_conversion.stage ? scan_conversion : compression; }
};

/// Adds to what the slot has under that name already: stages of several views add up.
void add_timing(FrameSlot& slot, std::string_view name, std::chrono::nanoseconds duration) noexcept;

}  // namespace echoform
