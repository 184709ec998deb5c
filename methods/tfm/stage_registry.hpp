// Stages by name, made for one view of an imaging plan.
#pragma once

#include <memory>
#include <string_view>

#include "pipeline/imaging_plan.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

/// Throws InputError if the backend has no such stage. Shared stages are made with view 0. The plan and the backend outlive the
/// stage.
[[nodiscard]] std::unique_ptr<Stage> make_stage(std::string_view name, const ImagingPlan& plan, std::size_t view,
                                                Backend& backend);

}  // namespace echoform
