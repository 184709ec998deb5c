// The memory that the analytic signal takes on CUDA in addition to its rows, for stages that form one themselves.
#pragma once

#include "pipeline/stage.hpp"
#include "stages/analytic_signal/analytic_signal.hpp"

namespace echoform {

/// The memory that the stage's kind states. Options and input must be valid.
[[nodiscard]] StageMemory analytic_signal_memory_on_cuda(const AnalyticSignalOptions& options, const BlockSpec& input);

}  // namespace echoform
