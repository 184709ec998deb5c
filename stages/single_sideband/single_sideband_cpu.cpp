#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/errors.hpp"
#include "stages/analytic_signal/row_transform.hpp"
#include "stages/block_checks.hpp"
#include "stages/single_sideband/single_sideband.hpp"

namespace echoform {
namespace {

constexpr std::size_t most_line_samples = std::size_t{1} << 28;  // the limit of RowTransform

/// A response for real rows: 1 in the bins about 0, else 0.
RowResponse near_zero(std::size_t bins, std::size_t samples) {
  RowResponse response(samples / 2 + 1, 0.0);
  std::fill_n(response.begin(), bins + 1, 1.0);
  return response;
}

/// Number of rows in the scratch: the two parts of a row, and for each part its content near 0 Hz.
constexpr std::size_t parts_of_row = 4;

std::size_t single_sideband_bytes(std::size_t samples, std::size_t members) {
  return static_cast<std::size_t>(2.0 * row_transform_bytes(samples, members, 1)) +
         members * parts_of_row * samples * sizeof(float);
}

class SingleSidebandCpu final : public Stage {
 public:
  SingleSidebandCpu(const SingleSidebandOptions& options, std::size_t members, SimdLevel level)
      : options_(options), members_(std::max<std::size_t>(1, members)), level_(level) {}

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("single-sideband");
    output_ = single_sideband_output(options_, input);
    input_stride_ = stride_of(input);
    const RowResponse kept = near_zero(options_.bins, input.columns);
    const std::array in_phase{quadrature_of(kept, input.columns)};
    const std::array quadrature{kept};
    of_real_.emplace(input.columns, members_, level_, in_phase);
    of_imaginary_.emplace(input.columns, members_, level_, quadrature);
    scratch_.assign(members_, std::vector<float>(parts_of_row * input.columns));
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const std::size_t samples = output_.columns;
    team_of(queue).for_each(output_.rows, 4, [&](std::size_t first, std::size_t last, std::size_t member) {
      float* const real = scratch_[member].data();
      float* const imaginary = real + samples;
      float* const wanted = imaginary + samples;
      float* const found = wanted + samples;
      for (std::size_t row = first; row < last; ++row) {
        const float* const in = input[0].as<float>() + 2 * row * input_stride_;
        for (std::size_t n = 0; n < samples; ++n) {
          real[n] = in[2 * n];
          imaginary[n] = in[2 * n + 1];
        }
        of_real_->respond(real, {wanted}, member);
        of_imaginary_->respond(imaginary, {found}, member);
        float* const out = output.as<float>() + 2 * row * output_.row_stride;
        for (std::size_t n = 0; n < samples; ++n) {
          out[2 * n] = real[n];
          out[2 * n + 1] = imaginary[n] + (wanted[n] - found[n]);
        }
        std::fill(out + 2 * samples, out + 2 * output_.row_stride, 0.0F);
      }
    });
  }

  [[nodiscard]] std::size_t bytes() const noexcept override {
    return (of_real_ ? of_real_->bytes() + of_imaginary_->bytes() : 0) +
           members_ * parts_of_row * output_.columns * sizeof(float);
  }

 private:
  SingleSidebandOptions options_;
  std::size_t members_;
  SimdLevel level_;
  BlockSpec output_;
  std::size_t input_stride_ = 0;
  std::optional<RowTransform> of_real_;
  std::optional<RowTransform> of_imaginary_;
  std::vector<std::vector<float>> scratch_;  // one per member of the team
};

}  // namespace

BlockSpec single_sideband_output(const SingleSidebandOptions& options, const BlockSpec& input) {
  require_block(input, "single-sideband", {ElementType::complex64});
  if (input.columns < 3 || input.columns > most_line_samples) {
    throw InputError("single-sideband stage, input samples", fmt::format("{}", input.columns),
                     fmt::format("3 to {}", most_line_samples));
  }
  if (options.bins < 1 || options.bins > (input.columns - 1) / 2) {
    throw InputError("single-sideband stage, bins", fmt::format("{}", options.bins),
                     fmt::format("1 to {}", (input.columns - 1) / 2));
  }
  BlockSpec output = input;
  output.row_stride = padded_columns(input.columns);
  output.sub_blocks = 1;
  output.lead = 0;
  output.trailer = 0;
  return output;
}

std::unique_ptr<Stage> make_single_sideband_cpu(const SingleSidebandOptions& options, std::size_t members, SimdLevel level) {
  return std::make_unique<SingleSidebandCpu>(options, members, level);
}

constinit const StageKind single_sideband_stage{
    .name = "single-sideband",
    .cpu = [](const StageOptions& options,
              Backend& backend) { return make_single_sideband_cpu(options.as<SingleSidebandOptions>(), team_size(backend)); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options,
               Backend& backend) { return make_single_sideband_cuda(options.as<SingleSidebandOptions>(), backend); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          const BlockSpec& input = inputs.only("single-sideband");
          StageStatement statement{single_sideband_output(options.as<SingleSidebandOptions>(), input), {}};
          if (site.backend == BackendKind::cuda) return statement;
          statement.memory.host = single_sideband_bytes(input.columns, team_size(site));
          return statement;
        },
};

}  // namespace echoform
