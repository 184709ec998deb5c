// Stages by name, made for one view of an imaging plan.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "pipeline/imaging_plan.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

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
