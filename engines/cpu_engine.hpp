// The CPU engine: the steps of a recipe one after the other on a thread team.
#pragma once

#include <functional>
#include <memory>

#include "pipeline/engine.hpp"

namespace echoform {

[[nodiscard]] std::unique_ptr<Engine> make_cpu_engine(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice,
                                                      const EngineOptions& options);
/// The same, whose threads do `beside` between two pieces of their work while they image, as ThreadTeam::set_beside() says.
[[nodiscard]] std::unique_ptr<Engine> make_cpu_engine(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice,
                                                      std::function<void()> beside);

}  // namespace echoform
