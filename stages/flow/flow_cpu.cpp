#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/errors.hpp"
#include "stages/block_checks.hpp"
#include "stages/flow/flow.hpp"
#include "stages/flow/flow_math.hpp"

namespace echoform {
namespace {

class FlowCpu final : public Stage {
 public:
  explicit FlowCpu(const FlowOptions& options) : options_(options) { check_flow(options_); }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("flow");
    output_ = flow_output(input);
    input_stride_ = stride_of(input);
    greatest_.assign(output_.rows, 0.0F);
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const float* const rows = input.as<float>();
    const std::size_t columns = output_.columns;
    const auto line_of = [&](std::size_t line) { return rows + line * flow_planes * input_stride_; };
    float least = 0.0F;
    if (takes_threshold(options_.kind)) {
      team_of(queue).for_each(output_.rows, 8, [&](std::size_t first, std::size_t last, std::size_t /*member*/) {
        for (std::size_t line = first; line < last; ++line) {
          float greatest = 0.0F;
          const float* const power = line_of(line);
          for (std::size_t k = 0; k < columns; ++k) greatest = power[k] > greatest ? power[k] : greatest;
          greatest_[line] = greatest;
        }
      });
      least = static_cast<float>(options_.threshold * static_cast<double>(*std::ranges::max_element(greatest_)));
    }
    const FlowScale scale = flow_scale(options_);
    team_of(queue).for_each(output_.rows, 1, [&](std::size_t first, std::size_t last, std::size_t /*member*/) {
      for (std::size_t line = first; line < last; ++line) {
        const float* const power = line_of(line);
        const float* const re = power + input_stride_;
        const float* const im = re + input_stride_;
        float* const out = output.as<float>() + line * columns;
        switch (options_.kind) {
          case FlowKind::velocity:
            for (std::size_t k = 0; k < columns; ++k) {
              out[k] = flows(power[k], least) ? flow_velocity(re[k], im[k], scale.of_radian) : 0.0F;
            }
            break;
          case FlowKind::variance:
            for (std::size_t k = 0; k < columns; ++k) {
              out[k] = flows(power[k], least) ? flow_variance(power[k], re[k], im[k], scale.twice_square) : 0.0F;
            }
            break;
          case FlowKind::power:
            std::copy_n(power, columns, out);
            break;
        }
      }
    });
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return greatest_.size() * sizeof(float); }

  [[nodiscard]] bool accepts(const StageOptions& options) const override { return accepts_flow(options, options_); }
  void retune(const StageOptions& options, ExecutionQueue& /*queue*/) noexcept override {
    options_ = *options.get<FlowOptions>();
  }

 private:
  FlowOptions options_;
  BlockSpec output_;
  std::size_t input_stride_ = 0;
  std::vector<float> greatest_;  // the greatest power of each line
};

}  // namespace

void check_flow(const FlowOptions& options) {
  if (!(options.nyquist.value > 0.0) || !std::isfinite(options.nyquist.value)) {
    throw InputError("flow stage, Nyquist velocity", fmt::format("{} m/s", options.nyquist.value), "above 0");
  }
  if (!(options.threshold >= 0.0 && options.threshold <= 1.0)) {
    throw InputError("flow stage, threshold", fmt::format("{}", options.threshold), "0 to 1");
  }
}

BlockSpec flow_output(const BlockSpec& input) {
  require_block(input, "flow", {ElementType::float32});
  if (input.rows % flow_planes != 0) {
    throw InputError("flow stage, rows", fmt::format("{}", input.rows), "three of each line");
  }
  BlockSpec output;
  output.rows = input.rows / flow_planes;
  output.columns = input.columns;
  output.row_stride = input.columns;
  return output;
}

bool takes_threshold(FlowKind kind) {
  return kind == FlowKind::velocity || kind == FlowKind::variance;
}

FlowScale flow_scale(const FlowOptions& options) {
  const double of_radian = options.nyquist.value / std::numbers::pi;
  return {static_cast<float>(of_radian), static_cast<float>(2.0 * of_radian * of_radian)};
}

bool accepts_flow(const StageOptions& options, const FlowOptions& before) {
  const auto& wanted = options.as<FlowOptions>();
  check_flow(wanted);
  return wanted.kind == before.kind && wanted.nyquist == before.nyquist;
}

std::unique_ptr<Stage> make_flow_cpu(const FlowOptions& options) {
  return std::make_unique<FlowCpu>(options);
}

constinit const StageKind flow_stage{
    .name = "flow",
    .cpu = [](const StageOptions& options, Backend&) { return make_flow_cpu(options.as<FlowOptions>()); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options, Backend& backend) { return make_flow_cuda(options.as<FlowOptions>(), backend); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          check_flow(options.as<FlowOptions>());
          StageStatement statement{flow_output(inputs.only("flow")), {}};
          if (site.backend == BackendKind::cuda) {
            statement.memory.device = flow_device_floats * sizeof(float);
          } else {
            statement.memory.host = statement.output.rows * sizeof(float);
          }
          return statement;
        },
};

}  // namespace echoform
