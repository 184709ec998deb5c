#include "stages/time_gain/time_gain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/errors.hpp"
#include "stages/block_checks.hpp"
#include "stages/row_map.hpp"

namespace echoform {
namespace {

class TimeGainCpu final : public Stage {
 public:
  explicit TimeGainCpu(TimeGainOptions options) : options_(std::move(options)) {}

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("time-gain");
    output_ = time_gain_output(options_, input);
    input_stride_ = stride_of(input);
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const float* const gain = options_.gain->data();
    for_each_row(queue, output_.rows, output_.columns, [&](std::size_t row) {
      const float* const from = input.as<float>() + row * input_stride_;
      float* const to = output.as<float>() + row * output_.row_stride;
      for (std::size_t n = 0; n < output_.columns; ++n) to[n] = gain[n] * from[n];
    });
  }

  [[nodiscard]] bool accepts(const StageOptions& options) const override { return accepts_time_gain(options, output_.columns); }
  void retune(const StageOptions& options, ExecutionQueue& /*queue*/) noexcept override {
    options_ = *options.get<TimeGainOptions>();
  }

 private:
  TimeGainOptions options_;
  BlockSpec output_;
  std::size_t input_stride_ = 0;
};

}  // namespace

BlockSpec time_gain_output(const TimeGainOptions& options, const BlockSpec& input) {
  require_block(input, "time-gain", {ElementType::float32});
  if (options.gain == nullptr) throw InputError("time-gain stage, gain", "none", "one for each sample");
  require_gain(*options.gain, input.columns, "time-gain");
  BlockSpec output = input;
  output.row_stride = padded_columns(input.columns);
  output.lead = 0;
  output.trailer = 0;
  return output;
}

bool accepts_time_gain(const StageOptions& options, std::size_t samples) {
  const auto& wanted = options.as<TimeGainOptions>();
  if (wanted.gain == nullptr) return false;
  require_gain(*wanted.gain, samples, "time-gain");
  return true;
}

void require_gain(const std::vector<float>& gain, std::size_t samples, const char* stage) {
  const auto place = [&] { return fmt::format("{} stage, time gain", stage); };
  if (gain.size() != samples) throw InputError(place(), fmt::format("{}", gain.size()), fmt::format("{}, one a sample", samples));
  if (!std::ranges::all_of(gain, [](float g) { return std::isfinite(g); })) {
    throw InputError(place(), "one that is not finite", "finite ones");
  }
}

std::unique_ptr<Stage> make_time_gain_cpu(TimeGainOptions options) {
  return std::make_unique<TimeGainCpu>(std::move(options));
}

constinit const StageKind time_gain_stage{
    .name = "time-gain",
    .cpu = [](const StageOptions& options, Backend&) { return make_time_gain_cpu(options.as<TimeGainOptions>()); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options,
               Backend& backend) { return make_time_gain_cuda(options.as<TimeGainOptions>(), backend); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          StageStatement statement{time_gain_output(options.as<TimeGainOptions>(), inputs.only("time-gain")), {}};
          if (site.backend == BackendKind::cuda) statement.memory.device = statement.output.columns * sizeof(float);
          return statement;
        },
};

}  // namespace echoform
