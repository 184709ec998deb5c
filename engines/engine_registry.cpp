#include "engines/engine_registry.hpp"

#include <fmt/format.h>

#include "engines/cpu_engine.hpp"
#include "pipeline/errors.hpp"
#include "pipeline/words.hpp"

namespace echoform {

const std::vector<EngineEntry>& engine_registry() {
  static const std::vector<EngineEntry> entries{
      {BackendKind::cpu, [] { return std::string(); }, make_cpu_engine},
  };
  return entries;
}

std::unique_ptr<Engine> make_engine(std::shared_ptr<const ImagingPlan> plan, const BackendChoice& choice,
                                    const EngineOptions& options) {
  for (const EngineEntry& entry : engine_registry()) {
    if (!choice.automatic && entry.kind != choice.kind) continue;
    if (const std::string reason = entry.why_unavailable(); !reason.empty()) {
      if (choice.automatic) continue;
      throw RuntimeFault(fmt::format("backend {}: {}", words::backend_kind.of(entry.kind), reason));
    }
    return entry.make(std::move(plan), choice, options);
  }
  throw InputError("backend", fmt::format("\"{}\"", words::backend_kind.of(choice.kind)),
                   "a backend of this build (echoform info lists them); this one images on the CPU only");
}

}  // namespace echoform
