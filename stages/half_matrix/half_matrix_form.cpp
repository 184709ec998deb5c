#include "stages/half_matrix/half_matrix_form.hpp"

#include <fmt/format.h>

#include "acquisition/words.hpp"
#include "base/errors.hpp"
#include "pipeline/raw_samples.hpp"
#include "stages/block_checks.hpp"
#include "stages/unpack/sample_scale.hpp"

namespace echoform {
namespace {

constexpr std::size_t element_limit = 1u << 16;

std::size_t rows_of(MatrixKind kind, std::size_t elements) {
  return kind == MatrixKind::full ? elements * elements : elements * (elements + 1) / 2;
}

}  // namespace

void require_half_matrix_options(const HalfMatrixOptions& options) {
  if (options.elements == 0 || options.elements > element_limit) {
    throw InputError("half-matrix stage, elements", fmt::format("{}", options.elements), fmt::format("1 to {}", element_limit));
  }
  require_sample_scale(options.sample_scale, "half-matrix");
  for (const std::size_t element : options.dead) {
    if (element >= options.elements) {
      throw InputError("half-matrix stage, dead element", fmt::format("{}", element),
                       fmt::format("0 to {}", options.elements - 1));
    }
  }
}

BlockSpec half_matrix_output(const HalfMatrixOptions& options, const BlockSpec& input) {
  require_block(input, "half-matrix", {ElementType::int16, ElementType::packed12, ElementType::float32});
  const std::size_t wanted = rows_of(input.matrix, options.elements);
  if (input.rows != wanted) {
    throw InputError(
        "half-matrix stage, input A-scans", fmt::format("{}", input.rows),
        fmt::format("{}, a {} matrix of {} elements", wanted, words::matrix_kind.of(input.matrix), options.elements));
  }
  BlockSpec output = input;
  output.type = ElementType::float32;
  output.matrix = reduced_matrix(input.matrix, options.reciprocal);
  output.rows = rows_of(output.matrix, options.elements);
  output.row_stride = padded_columns(input.columns);
  output.lead = 0;
  output.trailer = 0;
  return output;
}

std::vector<PairSource> half_matrix_sources(const HalfMatrixOptions& options, const BlockSpec& input) {
  const std::size_t n = options.elements;
  const MatrixKind to = reduced_matrix(input.matrix, options.reciprocal);
  const auto scale = static_cast<float>(options.sample_scale);
  std::vector<bool> dead(n, false);
  for (const std::size_t element : options.dead) dead[element] = true;
  std::vector<PairSource> sources;
  sources.reserve(rows_of(to, n));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = to == MatrixKind::full ? 0 : i; j < n; ++j) {
      sources.push_back(dead[i] || dead[j] ? PairSource{} : pair_source(input.matrix, to, i, j, n, scale));
    }
  }
  return sources;
}

MatrixKind reduced_matrix(MatrixKind input, bool reciprocal) {
  if (reciprocal) return MatrixKind::half_summed;
  return input == MatrixKind::full ? MatrixKind::full : MatrixKind::half;
}

constinit const StageKind half_matrix_stage{
    .name = "half-matrix",
    .cpu = [](const StageOptions& options, Backend&) { return make_half_matrix_cpu(options.as<HalfMatrixOptions>()); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options,
               Backend& backend) { return make_half_matrix_cuda(options.as<HalfMatrixOptions>(), backend); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          const auto& wanted = options.as<HalfMatrixOptions>();
          require_half_matrix_options(wanted);
          StageStatement statement = state_with_facts(half_matrix_output(wanted, inputs.only("half-matrix")), site);
          StageMemory& memory = statement.memory;
          (site.backend == BackendKind::cuda ? memory.device : memory.host) += statement.output.rows * sizeof(PairSource);
          return statement;
        },
};

}  // namespace echoform
