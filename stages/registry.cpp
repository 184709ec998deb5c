#include <fmt/format.h>

#include "base/errors.hpp"
#include "pipeline/words.hpp"
#include "stages/analytic_signal/analytic_signal.hpp"
#include "stages/beamform/beamform.hpp"
#include "stages/compression/compression.hpp"
#include "stages/envelope/envelope.hpp"
#include "stages/half_matrix/half_matrix.hpp"
#include "stages/registry.hpp"
#include "stages/scan_conversion/scan_conversion.hpp"
#include "stages/unpack/unpack.hpp"

namespace echoform {

const std::vector<StageEntry>& stage_registry() {
  static const std::vector<StageEntry> stages{
      {"unpack", BackendKind::cpu, &make_unpack_cpu},
      {"half-matrix", BackendKind::cpu, &make_half_matrix_cpu},
      {"analytic-signal", BackendKind::cpu, &make_analytic_signal_cpu},
      {"beamform", BackendKind::cpu, &make_beamform_cpu},
      {"envelope", BackendKind::cpu, &make_envelope_cpu},
      {"compression", BackendKind::cpu, &make_compression_cpu},
      {"scan-conversion", BackendKind::cpu, &make_scan_conversion_cpu},
#ifdef ECHOFORM_WITH_CUDA
      {"unpack", BackendKind::cuda, &make_unpack_cuda},
      {"half-matrix", BackendKind::cuda, &make_half_matrix_cuda},
      {"analytic-signal", BackendKind::cuda, &make_analytic_signal_cuda},
      {"beamform", BackendKind::cuda, &make_beamform_cuda},
      {"envelope", BackendKind::cuda, &make_envelope_cuda},
      {"compression", BackendKind::cuda, &make_compression_cuda},
      {"scan-conversion", BackendKind::cuda, &make_scan_conversion_cuda},
#endif
  };
  return stages;
}

std::unique_ptr<Stage> make_stage(std::string_view name, const ImagingPlan& plan, std::size_t view, Backend& backend) {
  std::string known;
  for (const StageEntry& entry : stage_registry()) {
    if (entry.backend != backend.kind()) continue;
    if (entry.name == name) return entry.make(plan, view, backend);
    known += fmt::format("{}{}", known.empty() ? "" : ", ", entry.name);
  }
  throw InputError(fmt::format("stages of the {} backend", words::backend_kind.of(backend.kind())), name,
                   known.empty() ? "none: it has no stages in this build" : known);
}

}  // namespace echoform
