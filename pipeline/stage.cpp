#include "pipeline/stage.hpp"

#include <fmt/format.h>

#include "base/errors.hpp"
#include "pipeline/words.hpp"

namespace echoform {

const BlockSpec& InputSpecs::only(std::string_view stage) const {
  if (list_.size() != 1) throw InputError(fmt::format("{} stage, inputs", stage), fmt::format("{}", list_.size()), "1");
  return list_.front();
}

std::unique_ptr<Stage> make_stage(const StageKind& kind, const StageOptions& options, Backend& backend) {
  const StageKind::Make make = backend.kind() == BackendKind::cuda ? kind.cuda : kind.cpu;
  if (make == nullptr) {
    throw InputError(fmt::format("{} stage, backend", kind.name), words::backend_kind.of(backend.kind()),
                     "one that has the stage in this build");
  }
  return make(options, backend);
}

}  // namespace echoform
