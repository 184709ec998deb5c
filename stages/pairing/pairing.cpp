#include "stages/pairing/pairing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "acquisition/acquisition.hpp"
#include "base/errors.hpp"
#include "stages/block_checks.hpp"
#include "stages/raw_rows/sample_scale.hpp"

namespace echoform {

PairingOptions pairing_of(const Acquisition& acquisition, bool reciprocal, double sample_scale,
                          std::span<const std::uint32_t> chosen) {
  CombinedPairs combined = combine_pairs(acquisition, reciprocal, chosen);
  return {acquisition.a_scans(), std::make_shared<const std::vector<PairSource>>(std::move(combined.sources)), sample_scale};
}

void validate(const PairingOptions& options) {
  require_sample_scale(options.sample_scale, "pairing");
  if (!options.sources || options.sources->empty()) throw InputError("pairing stage, rows", "none", "at least one");
  for (const PairSource& source : *options.sources) {
    if (source.weight == 0.0F || std::max(source.first, source.second) < options.a_scans) continue;
    throw InputError("pairing stage, source of a row", fmt::format("A-scan {}", std::max(source.first, source.second)),
                     fmt::format("one below {}", options.a_scans));
  }
}

BlockSpec pairing_output(const PairingOptions& options, const BlockSpec& input) {
  require_block(input, "pairing", {ElementType::raw});
  if (input.rows != options.a_scans) {
    throw InputError("pairing stage, input A-scans", fmt::format("{}", input.rows), fmt::format("{}", options.a_scans));
  }
  BlockSpec output;
  output.type = ElementType::float32;
  output.rows = options.sources->size();
  output.columns = input.columns;
  output.row_stride = padded_columns(input.columns);
  return output;
}

constinit const StageKind pairing_stage{
    .name = "pairing",
    .cpu = [](const StageOptions& options, Backend&) { return make_pairing_cpu(options.as<PairingOptions>()); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options,
               Backend& backend) { return make_pairing_cuda(options.as<PairingOptions>(), backend); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          const auto& wanted = options.as<PairingOptions>();
          validate(wanted);
          StageStatement statement = state_with_facts(pairing_output(wanted, inputs.only("pairing")), site);
          if (site.backend == BackendKind::cuda) statement.memory.device += statement.output.rows * sizeof(PairSource);
          return statement;
        },
};

}  // namespace echoform
