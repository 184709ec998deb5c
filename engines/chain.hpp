// The stages of a frame in order, as every engine has them: half matrix and analytic signal once, the rest for each view.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "pipeline/backend.hpp"
#include "pipeline/frame_slot.hpp"
#include "pipeline/imaging_plan.hpp"
#include "pipeline/imaging_setup.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

/// A stage with the memory of its output, where nobody else owns it.
struct PreparedStep {
  std::string_view name;
  std::unique_ptr<Stage> stage;
  BlockSpec output;
  Buffer block;
};

/// The named stage of the registry for backend.kind(), prepared for `input`; its output has no memory yet.
[[nodiscard]] PreparedStep make_step(std::string_view name, const ImagingPlan& plan, std::size_t view, Backend& backend,
                                     const BlockSpec& input);

/// What one view adds to the shared front of the chain.
struct ViewChain {
  PreparedStep beamform;
  PreparedStep envelope;
  PreparedStep compression;
  PreparedStep scan_conversion;  // no stage where the display grid is the acoustic grid

  /// The step that makes the display image.
  [[nodiscard]] const PreparedStep& display() const { return scan_conversion.stage ? scan_conversion : compression; }
};

/// Where the images of a view stand among a setup's outputs; nothing where there is no such output.
struct ViewOutputs {
  std::optional<std::size_t> complex_image;
  std::optional<std::size_t> envelope;
  std::optional<std::size_t> display;
};
/// One a law of the setup's plan.
[[nodiscard]] std::vector<ViewOutputs> outputs_by_view(const ImagingSetup& setup);
/// Whether any output of the setup is of this kind.
[[nodiscard]] bool wants(const ImagingSetup& setup, OutputKind kind);
/// The setup's plan, with what engines need of it checked. Throws InputError.
[[nodiscard]] std::shared_ptr<const ImagingPlan> checked_plan(const ImagingSetup& setup);
/// Whether the two image alike but for how they compress.
[[nodiscard]] bool alike_but_compression(const ImagingPlan& a, const ImagingPlan& b);
/// Sets the reference of all outputs of a view.
void set_reference(const ViewOutputs& outputs, FrameSlot& slot, float reference) noexcept;

/// Parts of a frame's way that are timed, at most.
inline constexpr std::size_t most_timings = 16;

/// Adds to what the slot has under that name already: stages of several views add up.
void add_timing(FrameSlot& slot, std::string_view name, std::chrono::nanoseconds duration) noexcept;

}  // namespace echoform
