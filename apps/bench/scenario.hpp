// What `frame` and `stream` image on the CPU, and `stream` everywhere.
#pragma once

#include "apps/bench/benchmark.hpp"
#include "config/configuration.hpp"
#include "simulators/simulator_configuration.hpp"

namespace echoform::bench {

/// The demo's source, or one with other sizes, above a grid that its gate reaches.
struct Scenario {
  Configuration configuration;
  SimulatorConfiguration simulator;
};

/// The scenario with the sizes that the options state. Where the options leave them open, `elements` and `samples` apply.
[[nodiscard]] Scenario scene_of(const Options& options, std::optional<std::size_t> elements = {},
                                std::optional<std::size_t> samples = {});

}  // namespace echoform::bench
