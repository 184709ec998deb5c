#include "methods/tfm/stage_registry.hpp"

#include <fmt/format.h>

#include <vector>

#include "base/errors.hpp"
#include "methods/tfm/stage_options.hpp"
#include "pipeline/words.hpp"
#include "stages/beamform/beamform.hpp"
#include "stages/compression/compression.hpp"
#include "stages/envelope/envelope.hpp"

namespace echoform {
namespace {

struct PlannedStage {
  const StageKind& kind;
  StageOptions (*options)(const ImagingPlan& plan);
};

const std::vector<PlannedStage>& planned_stages() {
  static const std::vector<PlannedStage> stages{
      {unpack_stage, [](const ImagingPlan& plan) -> StageOptions { return unpack_options(plan); }},
      {pairing_stage, [](const ImagingPlan& plan) -> StageOptions { return pairing_options(plan); }},
      {analytic_signal_stage, [](const ImagingPlan& plan) -> StageOptions { return analytic_signal_options(plan); }},
      {envelope_stage, [](const ImagingPlan&) -> StageOptions { return EnvelopeOptions{}; }},
      {compression_stage, [](const ImagingPlan& plan) -> StageOptions { return plan.compression; }},
      {scan_conversion_stage, [](const ImagingPlan& plan) -> StageOptions { return scan_conversion_options(plan); }},
  };
  return stages;
}

}  // namespace

std::unique_ptr<Stage> make_stage(std::string_view name, const ImagingPlan& plan, std::size_t view, Backend& backend) {
  if (name == beamform_stage.name) return make_stage(beamform_stage, beamform_options(plan, view), backend);
  std::string known = "beamform";
  for (const PlannedStage& stage : planned_stages()) {
    if (stage.kind.name == name) return make_stage(stage.kind, stage.options(plan), backend);
    known += fmt::format(", {}", stage.kind.name);
  }
  throw InputError(fmt::format("stages of the {} backend", words::backend_kind.of(backend.kind())), name, known);
}

}  // namespace echoform
