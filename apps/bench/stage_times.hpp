// Times of stages against the copy of as many bytes, as text and JSON.
#pragma once

#include <span>
#include <string>

#include "apps/bench/outcome.hpp"
#include "benchmarks/stage_turns.hpp"

namespace echoform::bench {

/// A line for each figure, and its values in the list `key`.
void add_stage_times(const std::string& key, std::span<const benchmarks::StageTime> figures, Outcome& outcome);

}  // namespace echoform::bench
