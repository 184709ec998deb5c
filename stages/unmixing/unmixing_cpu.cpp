#include <array>
#include <utility>

#include "stages/block_checks.hpp"
#include "stages/row_map.hpp"
#include "stages/unmixing/unmixing.hpp"

namespace echoform {
namespace {

class UnmixingCpu final : public Stage {
 public:
  explicit UnmixingCpu(UnmixingOptions options) : options_(std::move(options)) { check_unmixing(options_); }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    output_ = unmixing_output(options_, inputs);
    rows_ = inputs[0].rows;
    for (std::size_t n = 0; n < inputs.size(); ++n) {
      strides_[n] = stride_of(inputs[n]);
      leads_[n] = inputs[n].lead;
    }
    weights_ = unmixing_weights(options_);
    absorption_.assign(options_.absorption.begin(), options_.absorption.end());
    tables_ = {absorption_.data(), weights_.data(), inputs.size(), options_.components};
    return output_;
  }

  void process(const InputBlocks& inputs, Block output, ExecutionQueue& queue) noexcept override {
    std::array<const float*, most_unmixed_wavelengths> images{};
    for (std::size_t n = 0; n < tables_.wavelengths; ++n) images[n] = inputs[n].as<float>() + leads_[n];
    const std::size_t columns = output_.columns;
    const std::size_t all = (std::size_t{1} << tables_.components) - 1;
    for_each_row(queue, rows_, columns * tables_.wavelengths, [&](std::size_t row) {
      std::array<float, most_unmixed_wavelengths> values{};
      std::array<float, most_unmixed_components> found{};
      for (std::size_t k = 0; k < columns; ++k) {
        for (std::size_t n = 0; n < tables_.wavelengths; ++n) values[n] = images[n][row * strides_[n] + k];
        if (options_.non_negative) {
          unmix_non_negative(tables_, values.data(), found.data());
        } else {
          unmix_set(tables_, all, values.data(), found.data());
        }
        for (std::size_t m = 0; m < tables_.components; ++m) output.as<float>()[(m * rows_ + row) * columns + k] = found[m];
      }
    });
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return (weights_.size() + absorption_.size()) * sizeof(float); }

  [[nodiscard]] bool accepts(const StageOptions& options) const override { return accepts_unmixing(options, options_); }
  void retune(const StageOptions& options, ExecutionQueue& /*queue*/) noexcept override {
    options_.non_negative = options.get<UnmixingOptions>()->non_negative;
  }

 private:
  UnmixingOptions options_;
  BlockSpec output_;
  std::size_t rows_ = 0;  // number of rows of a component
  std::array<std::size_t, most_unmixed_wavelengths> strides_{};
  std::array<std::size_t, most_unmixed_wavelengths> leads_{};
  std::vector<float> weights_;
  std::vector<float> absorption_;
  UnmixingTables tables_;
};

}  // namespace

std::unique_ptr<Stage> make_unmixing_cpu(UnmixingOptions options) {
  return std::make_unique<UnmixingCpu>(std::move(options));
}

constinit const StageKind unmixing_stage{
    .name = "unmixing",
    .cpu = [](const StageOptions& options, Backend&) { return make_unmixing_cpu(options.as<UnmixingOptions>()); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options,
               Backend& backend) { return make_unmixing_cuda(options.as<UnmixingOptions>(), backend); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          const auto& wanted = options.as<UnmixingOptions>();
          StageStatement statement{unmixing_output(wanted, inputs), {}};
          const std::size_t sets = std::size_t{1} << wanted.components;
          const std::size_t tables = (sets + 1) * wanted.absorption.size() * sizeof(float);
          if (site.backend == BackendKind::cuda) {
            statement.memory.device = tables + sizeof(float);
          } else {
            statement.memory.host = tables;
          }
          return statement;
        },
};

}  // namespace echoform
