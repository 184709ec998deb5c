// The CPU engine: the steps of a recipe one after the other on a thread team.
#pragma once

#include <memory>

#include "pipeline/engine.hpp"

namespace echoform {

[[nodiscard]] std::unique_ptr<Engine> make_cpu_engine(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice,
                                                      const EngineOptions& options);

}  // namespace echoform
