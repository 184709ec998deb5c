#include "stages/persistence/persistence.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/errors.hpp"
#include "stages/block_checks.hpp"
#include "stages/row_map.hpp"

namespace echoform {
namespace {

void check(const PersistenceOptions& options) {
  if (PersistenceOptions::shares.holds(options.share)) return;
  throw InputError("persistence stage, share", fmt::format("{}", options.share),
                   fmt::format("{} to {}", PersistenceOptions::shares.least, PersistenceOptions::shares.most));
}

BlockSpec persistence_output(const BlockSpec& input) {
  require_block(input, "persistence", {ElementType::float32});
  BlockSpec output = input;
  output.row_stride = output.columns;
  output.lead = 0;
  output.trailer = 0;
  return output;
}

class PersistenceCpu final : public Stage {
 public:
  explicit PersistenceCpu(const PersistenceOptions& options) : options_(options) { check(options); }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("persistence");
    output_ = persistence_output(input);
    input_stride_ = stride_of(input);
    before_.assign(output_.rows * output_.columns, std::numeric_limits<float>::quiet_NaN());
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const auto kept = static_cast<float>(options_.share);
    const float fresh = 1.0F - kept;
    const std::size_t columns = output_.columns;
    for_each_row(queue, output_.rows, columns, [&](std::size_t row) {
      const float* const x = input.as<float>() + row * input_stride_;
      float* const y = output.as<float>() + row * columns;
      float* const before = before_.data() + row * columns;
      for (std::size_t n = 0; n < columns; ++n) {
        const float mixed = kept * before[n] + fresh * x[n];
        y[n] = std::isfinite(mixed) ? mixed : x[n];
        if (std::isfinite(y[n])) before[n] = y[n];
      }
    });
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return before_.size() * sizeof(float); }

  [[nodiscard]] bool accepts(const StageOptions& options) const override {
    check(options.as<PersistenceOptions>());
    return true;
  }
  void retune(const StageOptions& options, ExecutionQueue& /*queue*/) noexcept override {
    options_ = *options.get<PersistenceOptions>();
  }

 private:
  PersistenceOptions options_;
  BlockSpec output_;
  std::size_t input_stride_ = 0;
  std::vector<float> before_;  // not numbers where nothing finite has been yet
};

}  // namespace

std::unique_ptr<Stage> make_persistence_cpu(const PersistenceOptions& options) {
  return std::make_unique<PersistenceCpu>(options);
}

constinit const StageKind persistence_stage{
    .name = "persistence",
    .cpu = [](const StageOptions& options, Backend&) { return make_persistence_cpu(options.as<PersistenceOptions>()); },
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite&) {
          check(options.as<PersistenceOptions>());
          StageStatement statement{persistence_output(inputs.only("persistence")), {}};
          statement.memory.host = statement.output.bytes();
          return statement;
        },
};

}  // namespace echoform
