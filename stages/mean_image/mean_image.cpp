#include "stages/mean_image/mean_image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/errors.hpp"
#include "stages/block_checks.hpp"
#include "stages/mean_image/mean_image_math.hpp"
#include "stages/row_map.hpp"

namespace echoform {
namespace {

class MeanImageCpu final : public Stage {
 public:
  explicit MeanImageCpu(const MeanImageOptions& options) : options_(options) {}

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    output_ = mean_image_output(inputs);
    strides_.clear();
    for (std::size_t k = 0; k < inputs.size(); ++k) strides_.push_back(stride_of(inputs[k]));
    return output_;
  }

  void process(const InputBlocks& inputs, Block output, ExecutionQueue& queue) noexcept override {
    const std::size_t columns = output_.columns;
    const float part = 1.0F / static_cast<float>(strides_.size());
    for_each_row(queue, output_.rows, columns, [&](std::size_t row) {
      float* const out = output.as<float>() + row * columns;
      const auto of = [&](std::size_t k) { return inputs[k].as<float>() + row * strides_[k]; };
      std::copy_n(of(0), columns, out);
      for (std::size_t k = 1; k < strides_.size(); ++k) {
        const float* const more = of(k);
        for (std::size_t n = 0; n < columns; ++n) out[n] += more[n];
      }
      if (strides_.size() > 1) {
        for (std::size_t n = 0; n < columns; ++n) out[n] *= part;
      }
      if (options_.shown == ShownPart::magnitude) {
        for (std::size_t n = 0; n < columns; ++n) out[n] = magnitude_of(out[n]);
      } else if (options_.shown == ShownPart::non_negative) {
        for (std::size_t n = 0; n < columns; ++n) out[n] = without_negative(out[n]);
      }
    });
  }

  [[nodiscard]] bool accepts(const StageOptions& options) const override {
    static_cast<void>(options.as<MeanImageOptions>());
    return true;
  }
  void retune(const StageOptions& options, ExecutionQueue& /*queue*/) noexcept override {
    options_ = *options.get<MeanImageOptions>();
  }

 private:
  MeanImageOptions options_;
  BlockSpec output_;
  std::vector<std::size_t> strides_;
};

}  // namespace

BlockSpec mean_image_output(const InputSpecs& inputs) {
  if (inputs.size() == 0) throw InputError("mean-image stage, inputs", "none", "one at least");
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    require_block(inputs[k], "mean-image", {ElementType::float32});
    const BlockSpec& first = inputs[0];
    if (inputs[k].rows == first.rows && inputs[k].columns == first.columns && inputs[k].sub_blocks == first.sub_blocks) continue;
    throw InputError(fmt::format("mean-image stage, input {}", k), fmt::format("{} x {}", inputs[k].rows, inputs[k].columns),
                     fmt::format("{} x {}", first.rows, first.columns));
  }
  BlockSpec output = inputs[0];
  output.row_stride = output.columns;
  output.lead = 0;
  output.trailer = 0;
  return output;
}

std::unique_ptr<Stage> make_mean_image_cpu(const MeanImageOptions& options) {
  return std::make_unique<MeanImageCpu>(options);
}

constinit const StageKind mean_image_stage{
    .name = "mean-image",
    .cpu = [](const StageOptions& options, Backend&) { return make_mean_image_cpu(options.as<MeanImageOptions>()); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options,
               Backend& backend) { return make_mean_image_cuda(options.as<MeanImageOptions>(), backend); },
#endif
    .state =
        [](const StageOptions&, const InputSpecs& inputs, const StageSite& site) {
          StageStatement statement{mean_image_output(inputs), {}};
          if (site.backend == BackendKind::cuda) statement.memory.device = sizeof(float);
          return statement;
        },
};

}  // namespace echoform
