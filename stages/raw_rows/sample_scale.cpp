#include "stages/raw_rows/sample_scale.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/errors.hpp"
#include "stages/raw_rows/frame_facts.hpp"

namespace echoform {

void require_sample_scale(double sample_scale, std::string_view stage) {
  const float single = static_cast<float>(sample_scale);
  if (!std::isfinite(single) || std::fpclassify(single) != FP_NORMAL) {
    throw InputError(fmt::format("{} stage, sample scale", stage), fmt::format("{}", sample_scale),
                     "a number other than 0 that single precision can hold");
  }
}

StageStatement state_with_facts(BlockSpec output, const StageSite& site) {
  StageStatement statement{output, {}};
  if (site.backend == BackendKind::cuda) {
    statement.output.trailer = facts_trailer;
    statement.memory.device = sizeof(GatheredFacts);
    statement.memory.host = sizeof(FrameFacts);
  }
  return statement;
}

}  // namespace echoform
