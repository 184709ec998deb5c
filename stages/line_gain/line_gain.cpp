#include "stages/line_gain/line_gain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/errors.hpp"
#include "stages/block_checks.hpp"

namespace echoform {
namespace {

class LineGainCpu final : public Stage {
 public:
  explicit LineGainCpu(LineGainOptions options) : options_(std::move(options)) {}

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("line-gain");
    output_ = line_gain_output(options_, input);
    input_stride_ = stride_of(input);
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const std::size_t columns = output_.columns;
    const std::size_t grain = std::max<std::size_t>(1, 16384 / columns);
    team_of(queue).for_each(output_.rows, grain, [&](std::size_t first, std::size_t last, std::size_t /*member*/) {
      for (std::size_t row = first; row < last; ++row) {
        const float gain = (*options_.gain)[row];
        const float* const from = input.as<float>() + row * input_stride_;
        float* const to = output.as<float>() + row * columns;
        for (std::size_t k = 0; k < columns; ++k) to[k] = gain * from[k];
      }
    });
  }

  [[nodiscard]] bool accepts(const StageOptions& options) const override {
    check_line_gain(options.as<LineGainOptions>(), output_.rows);
    return true;
  }
  void retune(const StageOptions& options, ExecutionQueue& /*queue*/) noexcept override {
    options_ = *options.get<LineGainOptions>();
  }

 private:
  LineGainOptions options_;
  BlockSpec output_;
  std::size_t input_stride_ = 0;
};

}  // namespace

void check_line_gain(const LineGainOptions& options, std::size_t lines) {
  const std::size_t found = options.gain ? options.gain->size() : 0;
  if (found != lines) throw InputError("line-gain stage, gain", fmt::format("{}", found), fmt::format("{}, one a line", lines));
  if (!std::ranges::all_of(*options.gain, [](float g) { return std::isfinite(g); })) {
    throw InputError("line-gain stage, gain", "one that is not finite", "finite ones");
  }
}

BlockSpec line_gain_output(const LineGainOptions& options, const BlockSpec& input) {
  require_block(input, "line-gain", {ElementType::float32});
  check_line_gain(options, input.rows);
  BlockSpec output = input;
  output.row_stride = output.columns;
  output.lead = 0;
  output.trailer = 0;
  return output;
}

std::unique_ptr<Stage> make_line_gain_cpu(LineGainOptions options) {
  return std::make_unique<LineGainCpu>(std::move(options));
}

constinit const StageKind line_gain_stage{
    .name = "line-gain",
    .cpu = [](const StageOptions& options, Backend&) { return make_line_gain_cpu(options.as<LineGainOptions>()); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options,
               Backend& backend) { return make_line_gain_cuda(options.as<LineGainOptions>(), backend); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          StageStatement statement{line_gain_output(options.as<LineGainOptions>(), inputs.only("line-gain")), {}};
          if (site.backend == BackendKind::cuda) statement.memory.device = statement.output.rows * sizeof(float);
          return statement;
        },
};

}  // namespace echoform
