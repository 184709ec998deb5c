#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/errors.hpp"
#include "stages/autocorrelation/autocorrelation.hpp"
#include "stages/autocorrelation/autocorrelation_kernels.hpp"
#include "stages/autocorrelation/autocorrelation_kernels_body.hpp"
#include "stages/block_checks.hpp"

namespace echoform {
namespace {

/// Bytes of one row per member, before its mean over the window is taken.
std::size_t autocorrelation_bytes(std::size_t columns, std::size_t members) {
  return members * autocorrelation_planes * columns * sizeof(float);
}

/// Means over the window, as far as it lies within the row. This is not a running sum, so that a NaN affects its own window only.
void average_ranges(const float* in, std::size_t count, std::size_t half, float* out) {
  std::copy_n(in, count, out);
  for (std::size_t away = 1; away <= std::min(half, count - 1); ++away) {
    for (std::size_t k = away; k < count; ++k) out[k] += in[k - away];
    for (std::size_t k = 0; k + away < count; ++k) out[k] += in[k + away];
  }
  if (half == 0) return;
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t places = std::min(k, half) + 1 + std::min(count - 1 - k, half);
    out[k] /= static_cast<float>(places);
  }
}

class AutocorrelationCpu final : public Stage {
 public:
  AutocorrelationCpu(const AutocorrelationOptions& options, std::size_t members, SimdLevel level)
      : options_(options), kernel_(autocorrelation_kernel(level)), members_(members) {
    check_autocorrelation(options_);
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("autocorrelation");
    output_ = autocorrelation_output(options_, input);
    const bool planar = input.type == ElementType::planar_complex64;
    input_stride_ = 2 * stride_of(input);
    step_ = planar ? 1 : 2;
    quadrature_ = planar ? stride_of(input) : 1;
    scratch_.assign(members_ * autocorrelation_planes * output_.columns, 0.0F);
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const std::size_t columns = output_.columns;
    team_of(queue).for_each(
        output_.rows / autocorrelation_planes, 1, [&](std::size_t first, std::size_t last, std::size_t member) {
          float* const scratch = scratch_.data() + member * autocorrelation_planes * columns;
          for (std::size_t line = first; line < last; ++line) {
            AutocorrelationTask task;
            task.samples = input.as<float>() + line * options_.ensemble * input_stride_;
            task.row_stride = input_stride_;
            task.step = step_;
            task.quadrature = quadrature_;
            task.ensemble = options_.ensemble;
            task.count = columns;
            task.power = scratch;
            task.turn_re = scratch + columns;
            task.turn_im = scratch + 2 * columns;
            kernel_(task);
            for (std::size_t plane = 0; plane < autocorrelation_planes; ++plane) {
              float* const out = output.as<float>() + (line * autocorrelation_planes + plane) * output_.row_stride;
              average_ranges(scratch + plane * columns, columns, options_.half_window, out);
              std::fill(out + columns, out + output_.row_stride, 0.0F);
            }
          }
        });
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return scratch_.size() * sizeof(float); }

 private:
  AutocorrelationOptions options_;
  AutocorrelationKernel kernel_;
  std::size_t members_;
  BlockSpec output_;
  std::size_t input_stride_ = 0;  // distance between rows, in floats
  std::size_t step_ = 1;
  std::size_t quadrature_ = 0;
  std::vector<float> scratch_;  // one part per member of the team
};

}  // namespace

void check_autocorrelation(const AutocorrelationOptions& options) {
  if (options.ensemble < 2) {
    throw InputError("autocorrelation stage, ensemble", fmt::format("{}", options.ensemble), "2 samples or more");
  }
  if (options.half_window > AutocorrelationOptions::most_half_window) {
    throw InputError("autocorrelation stage, half window", fmt::format("{}", options.half_window),
                     fmt::format("at most {} ranges", AutocorrelationOptions::most_half_window));
  }
}

BlockSpec autocorrelation_output(const AutocorrelationOptions& options, const BlockSpec& input) {
  require_block(input, "autocorrelation", {ElementType::complex64, ElementType::planar_complex64});
  if (input.rows % options.ensemble != 0) {
    throw InputError("autocorrelation stage, rows", fmt::format("{}", input.rows),
                     fmt::format("a multiple of the ensemble, {}", options.ensemble));
  }
  BlockSpec output;
  output.rows = input.rows / options.ensemble * autocorrelation_planes;
  output.columns = input.columns;
  output.row_stride = padded_columns(input.columns);
  return output;
}

AutocorrelationKernel autocorrelation_kernel(SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::avx512) return &autocorrelate_avx512;
  if (level == SimdLevel::avx2) return &autocorrelate_avx2;
#endif
  return &autocorrelate_portable;
}

void autocorrelate_portable(const AutocorrelationTask& task) {
  autocorrelate_line(task);
}

std::unique_ptr<Stage> make_autocorrelation_cpu(const AutocorrelationOptions& options, std::size_t members, SimdLevel level) {
  return std::make_unique<AutocorrelationCpu>(options, members, level);
}

constinit const StageKind autocorrelation_stage{
    .name = "autocorrelation",
    .cpu = [](const StageOptions& options,
              Backend& backend) { return make_autocorrelation_cpu(options.as<AutocorrelationOptions>(), team_size(backend)); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options, Backend&) { return make_autocorrelation_cuda(options.as<AutocorrelationOptions>()); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          const auto& wanted = options.as<AutocorrelationOptions>();
          check_autocorrelation(wanted);
          StageStatement statement{autocorrelation_output(wanted, inputs.only("autocorrelation")), {}};
          if (site.backend == BackendKind::cpu)
            statement.memory.host = autocorrelation_bytes(statement.output.columns, team_size(site));
          return statement;
        },
};

}  // namespace echoform
