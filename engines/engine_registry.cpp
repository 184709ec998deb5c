#include "engines/engine_registry.hpp"

#include <fmt/format.h>

#include "base/errors.hpp"
#include "engines/cpu_engine.hpp"
#include "engines/cuda_engine.hpp"
#include "engines/scan_engine.hpp"
#include "gpu/cuda_backend.hpp"
#include "pipeline/words.hpp"

namespace echoform {

const std::vector<EngineEntry>& engine_registry() {
  static const std::vector<EngineEntry> entries{
#ifdef ECHOFORM_WITH_CUDA
      {BackendKind::cuda, [] { return why_no_cuda(); }, make_cuda_engine},
#endif
      {BackendKind::cpu, [] { return std::string(); }, make_cpu_engine},
  };
  return entries;
}

namespace {

const EngineEntry* entry_of(BackendKind kind) {
  for (const EngineEntry& entry : engine_registry()) {
    if (entry.kind == kind) return &entry;
  }
  return nullptr;
}

std::string why_unavailable(BackendKind kind, const BackendChoice& choice) {
  if (kind == BackendKind::cuda) {
    if (std::string reason = why_no_cuda(choice.device); !reason.empty()) return reason;
  }
  const EngineEntry* entry = entry_of(kind);
  return entry == nullptr ? std::string("this build has no engine for it") : entry->why_unavailable();
}

}  // namespace

BackendDecision decide_backend(const BackendChoice& choice) {
  if (!choice.automatic) {
    if (const std::string reason = why_unavailable(choice.kind, choice); !reason.empty()) {
      throw RuntimeFault(fmt::format("backend {}: {}; use cpu or auto", words::backend_kind.of(choice.kind), reason));
    }
    return {choice.kind, {}};
  }
  std::string reason = why_unavailable(BackendKind::cuda, choice);
  return {reason.empty() ? BackendKind::cuda : BackendKind::cpu, std::move(reason)};
}

std::unique_ptr<Engine> make_engine(std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice,
                                    const EngineOptions& options) {
  const auto make = entry_of(decide_backend(choice).kind)->make;
  return setup->scan == nullptr ? make(std::move(setup), choice, options)
                                : make_scan_engine(std::move(setup), choice, options, make);
}

}  // namespace echoform
