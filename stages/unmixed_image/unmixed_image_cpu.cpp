#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/errors.hpp"
#include "stages/block_checks.hpp"
#include "stages/row_map.hpp"
#include "stages/unmixed_image/unmixed_image.hpp"
#include "stages/unmixed_image/unmixed_image_math.hpp"

namespace echoform {
namespace {

class UnmixedImageCpu final : public Stage {
 public:
  explicit UnmixedImageCpu(const UnmixedImageOptions& options) : options_(options) { check_unmixed_image(options_); }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("unmixed-image");
    output_ = unmixed_image_output(options_, input);
    stride_ = stride_of(input);
    lead_ = input.lead;
    if (options_.kind == UnmixedKind::share) greatest_.assign(output_.rows, 0.0F);
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const std::size_t columns = output_.columns;
    const auto row_of = [&](std::size_t component, std::size_t row) {
      return input.as<float>() + lead_ + (component * output_.rows + row) * stride_;
    };
    if (options_.kind == UnmixedKind::concentration) {
      for_each_row(queue, output_.rows, columns, [&](std::size_t row) {
        std::copy_n(row_of(options_.component, row), columns, output.as<float>() + row * columns);
      });
      return;
    }
    for_each_row(queue, output_.rows, columns, [&](std::size_t row) {
      const float* const a = row_of(options_.component, row);
      const float* const b = row_of(options_.other, row);
      float greatest = 0.0F;
      for (std::size_t k = 0; k < columns; ++k) greatest = a[k] + b[k] > greatest ? a[k] + b[k] : greatest;
      greatest_[row] = greatest;
    });
    const auto least = static_cast<float>(options_.threshold * static_cast<double>(*std::ranges::max_element(greatest_)));
    for_each_row(queue, output_.rows, columns, [&](std::size_t row) {
      const float* const a = row_of(options_.component, row);
      const float* const b = row_of(options_.other, row);
      float* const out = output.as<float>() + row * columns;
      for (std::size_t k = 0; k < columns; ++k) out[k] = share_of(a[k], b[k], least);
    });
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return greatest_.size() * sizeof(float); }

  [[nodiscard]] bool accepts(const StageOptions& options) const override { return accepts_unmixed_image(options, options_); }
  void retune(const StageOptions& options, ExecutionQueue& /*queue*/) noexcept override {
    options_ = *options.get<UnmixedImageOptions>();
  }

 private:
  UnmixedImageOptions options_;
  BlockSpec output_;
  std::size_t stride_ = 0;
  std::size_t lead_ = 0;
  std::vector<float> greatest_;  // the greatest sum of both components in each row
};

}  // namespace

void check_unmixed_image(const UnmixedImageOptions& options) {
  const bool share = options.kind == UnmixedKind::share;
  if (options.component >= options.components ||
      (share && (options.other >= options.components || options.other == options.component))) {
    throw InputError("unmixed-image stage, component",
                     share ? fmt::format("{} and {}", options.component, options.other) : fmt::format("{}", options.component),
                     fmt::format("{} of 0 to {}", share ? "two" : "one", options.components - 1));
  }
  if (!(options.threshold >= 0.0 && options.threshold <= 1.0)) {
    throw InputError("unmixed-image stage, threshold", fmt::format("{}", options.threshold), "0 to 1");
  }
}

BlockSpec unmixed_image_output(const UnmixedImageOptions& options, const BlockSpec& input) {
  check_unmixed_image(options);
  require_block(input, "unmixed-image", {ElementType::float32});
  if (input.rows % options.components != 0) {
    throw InputError("unmixed-image stage, rows", fmt::format("{}", input.rows),
                     fmt::format("as many of each of {} components", options.components));
  }
  BlockSpec output;
  output.type = ElementType::float32;
  output.rows = input.rows / options.components;
  output.columns = input.columns;
  output.row_stride = output.columns;
  output.sub_blocks = input.sub_blocks;
  return output;
}

bool accepts_unmixed_image(const StageOptions& options, const UnmixedImageOptions& before) {
  UnmixedImageOptions wanted = options.as<UnmixedImageOptions>();
  check_unmixed_image(wanted);
  wanted.threshold = before.threshold;
  return wanted == before;
}

std::unique_ptr<Stage> make_unmixed_image_cpu(const UnmixedImageOptions& options) {
  return std::make_unique<UnmixedImageCpu>(options);
}

constinit const StageKind unmixed_image_stage{
    .name = "unmixed-image",
    .cpu = [](const StageOptions& options, Backend&) { return make_unmixed_image_cpu(options.as<UnmixedImageOptions>()); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options,
               Backend& backend) { return make_unmixed_image_cuda(options.as<UnmixedImageOptions>(), backend); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          const auto& wanted = options.as<UnmixedImageOptions>();
          StageStatement statement{unmixed_image_output(wanted, inputs.only("unmixed-image")), {}};
          if (wanted.kind != UnmixedKind::share) return statement;
          if (site.backend == BackendKind::cuda) {
            statement.memory.device = unmixed_image_device_bytes;
          } else {
            statement.memory.host = statement.output.rows * sizeof(float);
          }
          return statement;
        },
};

}  // namespace echoform
