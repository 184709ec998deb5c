#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>

#include "base/errors.hpp"
#include "stages/analytic_signal/analytic_signal.hpp"
#include "stages/analytic_signal/fftw_lock.hpp"
#include "stages/analytic_signal/row_transform.hpp"
#include "stages/block_checks.hpp"

namespace echoform {
namespace {

constexpr std::size_t sample_limit = std::size_t{1} << 28;  // twice this still fits FFTW's int

class AnalyticSignalCpu final : public Stage {
 public:
  AnalyticSignalCpu(std::size_t members, SimdLevel level) : members_(std::max<std::size_t>(1, members)), level_(level) {}

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("analytic-signal");
    require_block(input, "analytic-signal", {ElementType::float32});
    if (input.columns < 2 || input.columns > sample_limit) {
      throw InputError("analytic-signal stage, input samples", fmt::format("{}", input.columns),
                       fmt::format("2 to {}", sample_limit));
    }
    input_stride_ = stride_of(input);
    output_ = input;
    output_.type = ElementType::planar_complex64;
    output_.row_stride = analytic_row_stride(input.columns);
    transform_.emplace(input.columns, members_, level_);
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const std::size_t grain = std::max<std::size_t>(1, 16384 / transform_->length());
    team_of(queue).for_each(output_.rows, grain, [&](std::size_t first, std::size_t last, std::size_t member) {
      for (std::size_t row = first; row < last; ++row) {
        float* const in_phase = output.as<float>() + 2 * row * output_.row_stride;
        transform_row(input.as<float>() + row * input_stride_, in_phase, in_phase + output_.row_stride, member);
      }
    });
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return transform_ ? transform_->bytes() : 0; }

 private:
  void transform_row(const float* row, float* in_phase, float* quadrature, std::size_t member) const noexcept {
    const std::size_t samples = output_.columns;
    const std::size_t padding = (output_.row_stride - samples) * sizeof(float);
    transform_->transform(row, quadrature, member);
    std::memcpy(in_phase, row, samples * sizeof(float));
    std::memset(in_phase + samples, 0, padding);
    std::memset(quadrature + samples, 0, padding);
  }

  std::size_t members_;
  SimdLevel level_;
  BlockSpec output_;
  std::size_t input_stride_ = 0;
  std::optional<RowTransform> transform_;
};

}  // namespace

std::mutex& fftw_lock() {
  static std::mutex mutex;
  return mutex;
}

std::unique_ptr<Stage> make_analytic_signal_cpu(std::size_t members, SimdLevel level) {
  return std::make_unique<AnalyticSignalCpu>(members, level);
}

std::unique_ptr<Stage> make_analytic_signal_cpu(const ImagingPlan& /*plan*/, std::size_t /*view*/, Backend& backend) {
  return make_analytic_signal_cpu(team_size(backend));
}

}  // namespace echoform
