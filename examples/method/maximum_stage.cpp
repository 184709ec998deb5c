#include "maximum_stage.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.hpp"
#include "cpu/cpu_backend.hpp"
#include "stages/block_checks.hpp"

using namespace echoform;

namespace {

/// What prepare() and state() ask of their inputs, and what comes of them. Throws InputError.
BlockSpec maximum_output(const InputSpecs& inputs) {
  if (inputs.size() != 2) throw InputError("maximum stage, inputs", fmt::format("{}", inputs.size()), "2");
  for (std::size_t k = 0; k < 2; ++k) require_block(inputs[k], "maximum", {ElementType::float32});
  if (inputs[0].rows != inputs[1].rows || inputs[0].columns != inputs[1].columns) {
    throw InputError("maximum stage, inputs",
                     fmt::format("{} x {} and {} x {}", inputs[0].rows, inputs[0].columns, inputs[1].rows, inputs[1].columns),
                     "blocks of one shape");
  }
  BlockSpec output = inputs[0];
  output.row_stride = output.columns;
  output.lead = 0;
  output.trailer = 0;
  return output;
}

void check(const MaximumOptions& options) {
  if (MaximumOptions::weights.holds(options.weight)) return;
  throw InputError("maximum stage, weight", fmt::format("{}", options.weight),
                   fmt::format("{} to {}", MaximumOptions::weights.least, MaximumOptions::weights.most));
}

class MaximumCpu final : public Stage {
 public:
  explicit MaximumCpu(const MaximumOptions& options) : weight_(static_cast<float>(options.weight)) { check(options); }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    output_ = maximum_output(inputs);
    for (std::size_t k = 0; k < 2; ++k) stride_[k] = stride_of(inputs[k]);
    return output_;
  }

  void process(const InputBlocks& inputs, Block output, ExecutionQueue& queue) noexcept override {
    constexpr std::size_t pixels_of_a_piece = 16384;
    const std::size_t rows = std::max<std::size_t>(1, pixels_of_a_piece / output_.columns);
    team_of(queue).for_each(output_.rows, rows, [&](std::size_t first, std::size_t last, std::size_t /*member*/) {
      for (std::size_t row = first; row < last; ++row) {
        const float* const one = inputs[0].as<float>() + row * stride_[0];
        const float* const other = inputs[1].as<float>() + row * stride_[1];
        float* const greater = output.as<float>() + row * output_.columns;
        for (std::size_t n = 0; n < output_.columns; ++n) greater[n] = std::max(one[n], weight_ * other[n]);
      }
    });
  }

  [[nodiscard]] bool accepts(const StageOptions& options) const override {
    check(options.as<MaximumOptions>());
    return true;
  }
  void retune(const StageOptions& options, ExecutionQueue& /*queue*/) noexcept override {
    weight_ = static_cast<float>(options.get<MaximumOptions>()->weight);
  }

 private:
  float weight_;
  BlockSpec output_;
  std::size_t stride_[2]{};
};

}  // namespace

const StageKind maximum_stage{
    .name = "maximum",
    .cpu = [](const StageOptions& options, Backend&) -> std::unique_ptr<Stage> {
      return std::make_unique<MaximumCpu>(options.as<MaximumOptions>());
    },
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite&) {
          check(options.as<MaximumOptions>());
          return StageStatement{maximum_output(inputs), {}};
        },
};
