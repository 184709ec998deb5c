// What the analytic signal takes on CUDA beside its rows, for stages that make one on their way.
#pragma once

#include "pipeline/stage.hpp"
#include "stages/analytic_signal/analytic_signal.hpp"

namespace echoform {

/// Of valid options and input, as the stage's kind states it.
[[nodiscard]] StageMemory analytic_signal_memory_on_cuda(const AnalyticSignalOptions& options, const BlockSpec& input);

}  // namespace echoform
