#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/errors.hpp"
#include "stages/block_checks.hpp"
#include "stages/line_blend/line_blend.hpp"
#include "stages/line_blend/line_blend_math.hpp"

namespace echoform {
namespace {

void require_of_blend(bool right, const char* option, std::size_t found, const std::string& expected) {
  if (!right) throw InputError(fmt::format("line-blend stage, {}", option), fmt::format("{}", found), expected);
}

/// Bytes of the tables in device memory: all terms, the places where those of each line begin, and the weights.
std::size_t table_bytes(const LineBlendTable& table) {
  std::size_t terms = 0;
  for (const std::vector<BlendTerm>& line : table.lines) terms += line.size();
  return terms * sizeof(BlendTerm) + (table.lines.size() + 1) * sizeof(std::uint32_t) + table.weights.size() * sizeof(float);
}

class LineBlendCpu final : public Stage {
 public:
  explicit LineBlendCpu(LineBlendOptions options) : options_(std::move(options)) {}

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("line-blend");
    output_ = line_blend_output(options_, input);
    input_stride_ = stride_of(input);
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const LineBlendTable& table = *options_.table;
    const std::size_t parts = output_.type == ElementType::complex64 ? 2 : 1;
    team_of(queue).for_each(output_.rows, 8, [&](std::size_t first, std::size_t last, std::size_t /*member*/) {
      for (std::size_t line = first; line < last; ++line) {
        float* const out = output.as<float>() + line * output_.row_stride * parts;
        std::fill_n(out, output_.row_stride * parts, 0.0F);
        for (const BlendTerm& term : table.lines[line]) {
          const float* const in = input.as<float>() + term.row * input_stride_ * parts;
          const float* const weights = table.weights.data() + term.weights * table.ranges;
          if (parts == 1) {
            for (std::size_t k = 0; k < table.ranges; ++k) out[k] = blended(out[k], weights[k], in[k]);
          } else {
            for (std::size_t k = 0; k < table.ranges; ++k) {
              out[2 * k] = blended(out[2 * k], weights[k], in[2 * k]);
              out[2 * k + 1] = blended(out[2 * k + 1], weights[k], in[2 * k + 1]);
            }
          }
        }
      }
    });
  }

 private:
  LineBlendOptions options_;
  BlockSpec output_;
  std::size_t input_stride_ = 0;
};

}  // namespace

BlockSpec line_blend_output(const LineBlendOptions& options, const BlockSpec& input) {
  require_block(input, "line-blend", {ElementType::float32, ElementType::complex64});
  if (options.table == nullptr) throw InputError("line-blend stage, table", "none", "the terms of each line");
  const LineBlendTable& table = *options.table;
  require_of_blend(!table.lines.empty(), "lines", 0, "at least one");
  require_of_blend(table.ranges == input.columns, "input ranges", input.columns, fmt::format("{}", table.ranges));
  const std::size_t tables = table.weights.size() / table.ranges;
  for (const std::vector<BlendTerm>& line : table.lines) {
    require_of_blend(!line.empty(), "terms of a line", 0, "at least one");
    for (const BlendTerm& term : line) {
      require_of_blend(term.row < input.rows, "row of a term", term.row, fmt::format("one of {}", input.rows));
      require_of_blend(term.weights < tables, "weights of a term", term.weights, fmt::format("one of {} tables", tables));
    }
  }
  if (!std::ranges::all_of(table.weights, [](float w) { return std::isfinite(w); })) {
    throw InputError("line-blend stage, weights", "one that is not finite", "finite ones");
  }
  BlockSpec output = input;
  output.rows = table.lines.size();
  output.row_stride = padded_columns(input.columns);
  output.sub_blocks = 1;
  output.lead = 0;
  output.trailer = 0;
  return output;
}

std::unique_ptr<Stage> make_line_blend_cpu(LineBlendOptions options) {
  return std::make_unique<LineBlendCpu>(std::move(options));
}

constinit const StageKind line_blend_stage{
    .name = "line-blend",
    .cpu = [](const StageOptions& options, Backend&) { return make_line_blend_cpu(options.as<LineBlendOptions>()); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options,
               Backend& backend) { return make_line_blend_cuda(options.as<LineBlendOptions>(), backend); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          const auto& wanted = options.as<LineBlendOptions>();
          StageStatement statement{line_blend_output(wanted, inputs.only("line-blend")), {}};
          if (site.backend == BackendKind::cuda) statement.memory.device = table_bytes(*wanted.table);
          return statement;
        },
};

}  // namespace echoform
