// Engines by backend: one line each in engine_registry.cpp.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/engine.hpp"

namespace echoform {

struct EngineEntry {
  BackendKind kind;
  /// Empty if this machine can run the engine, otherwise the reason why not, in a line for the user.
  std::string (*why_unavailable)();
  std::unique_ptr<Engine> (*make)(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice,
                                  const EngineOptions& options);
};

/// The engines, in the order in which "auto" tries them.
[[nodiscard]] const std::vector<EngineEntry>& engine_registry();

/// What a choice comes to on this machine.
struct BackendDecision {
  BackendKind kind = BackendKind::cpu;
  std::string why_no_gpu;  ///< why an automatic choice came to the CPU; else empty
};
/// Throws RuntimeFault if a backend was named that is not available: "backend cuda: REASON; use cpu or auto". Throws
/// InputError if there are devices, and choice.device is not among them.
[[nodiscard]] BackendDecision decide_backend(const BackendChoice& choice);

}  // namespace echoform
