#include "stages/persistence/persistence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "base/errors.hpp"
#include "stages/block_checks.hpp"
#include "stages/persistence/persistence_math.hpp"
#include "stages/row_map.hpp"

namespace echoform {
namespace {

class PersistenceCpu final : public Stage {
 public:
  explicit PersistenceCpu(const PersistenceOptions& options) : options_(options) { validate(options); }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("persistence");
    output_ = persistence_output(input);
    input_stride_ = stride_of(input);
    before_.resize(output_.rows * output_.columns);
    forget();
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const auto share = static_cast<float>(options_.share);
    const std::size_t columns = output_.columns;
    for_each_row(queue, output_.rows, columns, [&](std::size_t row) {
      const float* const x = input.as<float>() + row * input_stride_;
      float* const y = output.as<float>() + row * columns;
      float* const before = before_.data() + row * columns;
      for (std::size_t n = 0; n < columns; ++n) {
        y[n] = faded(before[n], x[n], share);
        before[n] = kept_of(before[n], y[n]);
      }
    });
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return before_.size() * sizeof(float); }

  void restart(ExecutionQueue& /*queue*/) noexcept override { forget(); }

  [[nodiscard]] bool accepts(const StageOptions& options) const override {
    validate(options.as<PersistenceOptions>());
    return true;
  }
  void retune(const StageOptions& options, ExecutionQueue& /*queue*/) noexcept override {
    options_ = *options.get<PersistenceOptions>();
  }

 private:
  void forget() noexcept { std::fill(before_.begin(), before_.end(), std::numeric_limits<float>::quiet_NaN()); }

  PersistenceOptions options_;
  BlockSpec output_;
  std::size_t input_stride_ = 0;
  std::vector<float> before_;  // NaN where there has been nothing finite yet
};

}  // namespace

void validate(const PersistenceOptions& options) {
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

std::unique_ptr<Stage> make_persistence_cpu(const PersistenceOptions& options) {
  return std::make_unique<PersistenceCpu>(options);
}

constinit const StageKind persistence_stage{
    .name = "persistence",
    .cpu = [](const StageOptions& options, Backend&) { return make_persistence_cpu(options.as<PersistenceOptions>()); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options,
               Backend& backend) { return make_persistence_cuda(options.as<PersistenceOptions>(), backend); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          validate(options.as<PersistenceOptions>());
          StageStatement statement{persistence_output(inputs.only("persistence")), {}};
          if (site.backend == BackendKind::cuda) {
            statement.memory.device = statement.output.bytes() + sizeof(float);
          } else {
            statement.memory.host = statement.output.bytes();
          }
          return statement;
        },
};

}  // namespace echoform
