// `stream` on either backend.
#pragma once

#include "apps/bench/scenario.hpp"
#include "benchmarks/stream.hpp"

namespace echoform::bench {

/// Measures and reports `test` on `scene`, after taking over what the options say.
[[nodiscard]] Outcome run_stream(const Options& options, const Scenario& scene, benchmarks::StreamCase test, LiveLine& progress);

}  // namespace echoform::bench
