#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "cpu/fftw_lock.hpp"
#include "stages/analytic_signal/analytic_responses.hpp"
#include "stages/analytic_signal/analytic_signal.hpp"
#include "stages/analytic_signal/row_transform.hpp"
#include "stages/block_checks.hpp"

namespace echoform {
namespace {

class AnalyticSignalCpu final : public Stage {
 public:
  AnalyticSignalCpu(std::size_t members, SimdLevel level, FilterOptions filter, std::size_t rows)
      : members_(std::max<std::size_t>(1, members)), level_(level), filter_(std::move(filter)), rows_(rows) {
    validate(filter_, "analytic-signal stage, filter");
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("analytic-signal");
    output_ = analytic_signal_output({}, input, BackendKind::cpu);
    input_stride_ = stride_of(input);
    transform_.emplace(input.columns, members_, level_, analytic_responses(filter_, input.columns));
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const std::size_t grain = std::max<std::size_t>(1, 16384 / transform_->length());
    const std::size_t rows = rows_ == 0 ? output_.rows : std::min(rows_, output_.rows);
    team_of(queue).for_each(rows, grain, [&](std::size_t first, std::size_t last, std::size_t member) {
      for (std::size_t row = first; row < last; ++row) {
        float* const in_phase = output.as<float>() + 2 * row * output_.row_stride;
        transform_row(input.as<float>() + row * input_stride_, in_phase, in_phase + output_.row_stride, member);
      }
    });
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return transform_ ? transform_->bytes() : 0; }

  /// Accepts any number of rows to transform, with the same filter.
  [[nodiscard]] bool accepts(const StageOptions& options) const override {
    const auto& wanted = options.as<AnalyticSignalOptions>();
    validate(wanted.filter, "analytic-signal stage, filter");
    return wanted.filter == filter_;
  }
  void retune(const StageOptions& options, ExecutionQueue& /*queue*/) noexcept override {
    rows_ = options.get<AnalyticSignalOptions>()->rows;
  }

 private:
  void transform_row(const float* row, float* in_phase, float* quadrature, std::size_t member) const noexcept {
    const std::size_t samples = output_.columns;
    const std::size_t padding = (output_.row_stride - samples) * sizeof(float);
    if (filter_.kind != FilterKind::none) {
      transform_->respond(row, {in_phase, quadrature}, member);
    } else {
      transform_->transform(row, quadrature, member);
      std::memcpy(in_phase, row, samples * sizeof(float));
    }
    std::memset(in_phase + samples, 0, padding);
    std::memset(quadrature + samples, 0, padding);
  }

  std::size_t members_;
  SimdLevel level_;
  FilterOptions filter_;
  std::size_t rows_;  // number of rows that are transformed; 0: all
  BlockSpec output_;
  std::size_t input_stride_ = 0;
  std::optional<RowTransform> transform_;
};

}  // namespace

std::unique_ptr<Stage> make_analytic_signal_cpu(std::size_t members, SimdLevel level, FilterOptions filter, std::size_t rows) {
  return std::make_unique<AnalyticSignalCpu>(members, level, std::move(filter), rows);
}

}  // namespace echoform
