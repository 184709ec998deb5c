// A stage turns one block into the next. Each lives in a folder of its own:
//   stages/NAME/NAME.hpp        what it does, its configuration, its factories
//   stages/NAME/NAME_math.hpp   arithmetic shared by host and device, where there is any
//   stages/NAME/NAME_cpu.cpp    and, with the GPU backend, NAME_cuda.cu
// and is named in one line of stages/registry.cpp for each backend.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "pipeline/backend.hpp"
#include "pipeline/block.hpp"
#include "pipeline/imaging_plan.hpp"

namespace echoform {

class Stage {
 public:
  virtual ~Stage() = default;

  /// Validates `input` and allocates all that process() will need. Returns the description of the output, whose memory
  /// the caller provides. May throw InputError (the input is not for this stage) or RuntimeFault (no memory).
  [[nodiscard]] virtual BlockSpec prepare(const BlockSpec& input) = 0;

  /// Queues the work for one frame. Never allocates, blocks or synchronises; `output` may not overlap `input`.
  virtual void process(ConstBlock input, Block output, ExecutionQueue& queue) noexcept = 0;

  /// Bytes that the stage holds after prepare(), where they are worth counting: tables, large scratch.
  [[nodiscard]] virtual std::size_t bytes() const noexcept { return 0; }
};

/// Builds the stage for one view of a plan (shared stages are built with view 0).
using StageFactory = std::unique_ptr<Stage> (*)(const ImagingPlan& plan, std::size_t view, Backend& backend);

struct StageEntry {
  std::string_view name;  ///< "half-matrix"
  BackendKind backend;
  StageFactory make;
};

/// All stages of this build.
[[nodiscard]] const std::vector<StageEntry>& stage_registry();
/// Throws InputError if the backend has no such stage.
[[nodiscard]] std::unique_ptr<Stage> make_stage(std::string_view name, const ImagingPlan& plan, std::size_t view,
                                                Backend& backend);

}  // namespace echoform
