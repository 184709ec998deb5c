#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/errors.hpp"
#include "stages/analytic_signal/cufft_sizes.hpp"
#include "stages/analytic_signal/row_transform.hpp"
#include "stages/block_checks.hpp"
#include "stages/filter/filter.hpp"
#include "stages/filter/filter_response.hpp"

namespace echoform {
namespace {

constexpr std::size_t sample_limit = std::size_t{1} << 28;  // twice this still fits the int of FFTW and cuFFT

class FilterCpu final : public Stage {
 public:
  FilterCpu(FilterOptions options, std::size_t members, SimdLevel level)
      : options_(std::move(options)), members_(std::max<std::size_t>(1, members)), level_(level) {
    validate(options_, "filter stage,");
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("filter");
    output_ = filter_output(options_, input);
    input_stride_ = stride_of(input);
    transform_.reset();
    if (options_.kind != FilterKind::none) {
      const RowResponse response = filter_response(options_, input.columns);
      transform_.emplace(input.columns, members_, level_, std::span(&response, 1));
    }
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const std::size_t grain = std::max<std::size_t>(1, 16384 / output_.columns);
    team_of(queue).for_each(output_.rows, grain, [&](std::size_t first, std::size_t last, std::size_t member) {
      for (std::size_t row = first; row < last; ++row) {
        const float* const in = input.as<float>() + row * input_stride_;
        float* const out = output.as<float>() + row * output_.row_stride;
        if (transform_) {
          transform_->respond(in, {out}, member);
        } else {
          std::memcpy(out, in, output_.columns * sizeof(float));
        }
        std::memset(out + output_.columns, 0, (output_.row_stride - output_.columns) * sizeof(float));
      }
    });
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return transform_ ? transform_->bytes() : 0; }

 private:
  FilterOptions options_;
  std::size_t members_;
  SimdLevel level_;
  BlockSpec output_;
  std::size_t input_stride_ = 0;
  std::optional<RowTransform> transform_;
};

StageMemory memory_of(const FilterOptions& options, const BlockSpec& input, const StageSite& site) {
  StageMemory memory;
  if (options.kind == FilterKind::none) return memory;
  if (site.backend == BackendKind::cuda) {
    memory.device = cufft_sizes(input.rows, input.columns, filter_spectra_bytes, 1).bytes();
  } else {
    memory.host = static_cast<std::size_t>(row_transform_bytes(input.columns, team_size(site), 1));
  }
  return memory;
}

}  // namespace

BlockSpec filter_output(const FilterOptions& options, const BlockSpec& input) {
  validate(options, "filter stage,");
  require_block(input, "filter", {ElementType::float32});
  if (input.columns < 2 || input.columns > sample_limit) {
    throw InputError("filter stage, input samples", fmt::format("{}", input.columns), fmt::format("2 to {}", sample_limit));
  }
  BlockSpec output = input;
  output.row_stride = padded_columns(input.columns);
  output.lead = 0;
  output.trailer = 0;
  return output;
}

std::unique_ptr<Stage> make_filter_cpu(FilterOptions options, std::size_t members, SimdLevel level) {
  return std::make_unique<FilterCpu>(std::move(options), members, level);
}

constinit const StageKind filter_stage{
    .name = "filter",
    .cpu = [](const StageOptions& options,
              Backend& backend) { return make_filter_cpu(options.as<FilterOptions>(), team_size(backend)); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options, Backend& backend) { return make_filter_cuda(options.as<FilterOptions>(), backend); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          const auto& wanted = options.as<FilterOptions>();
          const BlockSpec& input = inputs.only("filter");
          const BlockSpec output = filter_output(wanted, input);
          return StageStatement{output, memory_of(wanted, input, site)};
        },
};

}  // namespace echoform
