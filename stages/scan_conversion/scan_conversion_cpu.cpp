#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/errors.hpp"
#include "stages/block_checks.hpp"
#include "stages/scan_conversion/resample_kernels.hpp"
#include "stages/scan_conversion/scan_conversion.hpp"
#include "stages/scan_conversion/scan_conversion_math.hpp"

namespace echoform {
namespace {

void require_plane(const Grid& grid, const char* name) {
  validate(grid, fmt::format("scan-conversion stage, {} grid", name));
  if (grid.y.count != 1) {
    throw InputError(fmt::format("scan-conversion stage, {} grid", name), fmt::format("{} pixels along y", grid.y.count),
                     "1: an image, not a volume");
  }
}

/// Distance between the blended rows of two members, in floats. There are at least 64 bytes between them, so that no two members
/// write to one cache line.
std::size_t blended_row(const ScanConversionOptions& options) {
  return padded_columns(options.acoustic.x.count) + 16;
}

class CartesianScanConversionCpu final : public Stage {
 public:
  CartesianScanConversionCpu(const ScanConversionOptions& options, std::size_t members, SimdLevel level)
      : options_(options), members_(std::max<std::size_t>(1, members)), kernels_(resample_kernels(level)) {
    validate(options);
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("scan-conversion");
    output_ = scan_conversion_output(options_, input);
    const Grid& acoustic = options_.acoustic;
    input_stride_ = stride_of(input);
    columns_ = make_axis_taps(acoustic.x, options_.display.x, options_.interpolation, options_.cubic_alpha);
    rows_ = make_axis_taps(acoustic.z, options_.display.z, options_.interpolation, options_.cubic_alpha);
    find_used_columns();
    blended_stride_ = blended_row(options_);
    blended_.assign(members_ * blended_stride_, 0.0F);
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    if (output_.type == ElementType::uint8) {
      convert(input.as<std::uint8_t>(), output.as<std::uint8_t>(), queue, kernels_.blend_levels, kernels_.pick_levels);
    } else {
      convert(input.as<float>(), output.as<float>(), queue, kernels_.blend_floats, kernels_.pick_floats);
    }
  }

  [[nodiscard]] std::size_t bytes() const noexcept override {
    return blended_.size() * sizeof(float) + tap_bytes(options_.interpolation, columns_.count) +
           tap_bytes(options_.interpolation, rows_.count);
  }

 private:
  void find_used_columns() {
    first_used_ = options_.acoustic.x.count;
    end_used_ = 0;
    for (std::size_t tap = 0; tap < columns_.taps; ++tap) {
      for (std::size_t pixel = columns_.begin; pixel < columns_.end; ++pixel) {
        const auto index = static_cast<std::size_t>(columns_.index[tap * columns_.count + pixel]);
        first_used_ = std::min(first_used_, index);
        end_used_ = std::max(end_used_, index + 1);
      }
    }
    if (end_used_ == 0) first_used_ = 0;
  }

  template <class Pixel, class Blend, class Pick>
  void convert(const Pixel* input, Pixel* output, ExecutionQueue& queue, Blend blend, Pick pick) noexcept {
    const std::size_t grain = std::max<std::size_t>(1, 8192 / output_.columns);
    const ColumnTaps columns{columns_.index.data() + columns_.begin, columns_.weight.data() + columns_.begin, columns_.count};
    const std::size_t inside = columns_.end - columns_.begin;
    team_of(queue).for_each(output_.rows, grain, [&](std::size_t first, std::size_t last, std::size_t member) {
      float* const blended = blended_.data() + member * blended_stride_;
      for (std::size_t row = first; row < last; ++row) {
        Pixel* const out = output + row * output_.row_stride;
        if (row < rows_.begin || row >= rows_.end || inside == 0) {
          std::memset(out, 0, output_.columns * sizeof(Pixel));
          continue;
        }
        BlendRows<Pixel> from;
        for (std::size_t tap = 0; tap < rows_.taps; ++tap) {
          const auto index = static_cast<std::size_t>(rows_.index[tap * rows_.count + row]);
          from.rows[tap] = input + index * input_stride_ + first_used_;
          from.weights[tap] = rows_.weight[tap * rows_.count + row];
        }
        blend(from, rows_.taps, blended + first_used_, end_used_ - first_used_);
        std::memset(out, 0, columns_.begin * sizeof(Pixel));
        pick(blended, columns, columns_.taps, out + columns_.begin, inside);
        std::memset(out + columns_.end, 0, (output_.columns - columns_.end) * sizeof(Pixel));
      }
    });
  }

  ScanConversionOptions options_;
  std::size_t members_;
  ResampleKernels kernels_;
  BlockSpec output_;
  std::size_t input_stride_ = 0;
  AxisTaps columns_;
  AxisTaps rows_;
  std::size_t first_used_ = 0;  // input columns that any output pixel reads
  std::size_t end_used_ = 0;
  std::size_t blended_stride_ = 0;
  std::vector<float> blended_;  // one row per member
};

}  // namespace

void validate(const ScanConversionOptions& options) {
  require_plane(options.acoustic, "acoustic");
  require_plane(options.display, "display");
  if (!cubic_alphas.holds(options.cubic_alpha)) {
    throw InputError("scan-conversion stage, cubic alpha", fmt::format("{}", options.cubic_alpha),
                     fmt::format("{} to {}", cubic_alphas.least, cubic_alphas.most));
  }
}

BlockSpec scan_conversion_output(const ScanConversionOptions& options, const BlockSpec& input) {
  require_block(input, "scan-conversion", {ElementType::uint8, ElementType::float32});
  const Grid& acoustic = options.acoustic;
  if (input.rows != acoustic.z.count || input.columns != acoustic.x.count || input.sub_blocks != 1) {
    throw InputError("scan-conversion stage, input shape",
                     fmt::format("{} x {} in {} sub-blocks", input.rows, input.columns, input.sub_blocks),
                     fmt::format("{} x {} in one, the acoustic grid", acoustic.z.count, acoustic.x.count));
  }
  BlockSpec output = input;
  output.rows = options.display.z.count;
  output.columns = options.display.x.count;
  output.row_stride = output.columns;
  return output;
}

std::unique_ptr<Stage> make_scan_conversion_cpu(const ScanConversionOptions& options, std::size_t members, SimdLevel level) {
  return std::make_unique<CartesianScanConversionCpu>(options, members, level);
}

constinit const StageKind scan_conversion_stage{
    .name = "scan-conversion",
    .cpu = [](const StageOptions& options,
              Backend& backend) { return make_scan_conversion_cpu(options.as<ScanConversionOptions>(), team_size(backend)); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options,
               Backend& backend) { return make_scan_conversion_cuda(options.as<ScanConversionOptions>(), backend); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          const auto& wanted = options.as<ScanConversionOptions>();
          validate(wanted);
          StageStatement statement{scan_conversion_output(wanted, inputs.only("scan-conversion")), {}};
          const std::size_t taps =
              tap_bytes(wanted.interpolation, wanted.display.x.count) + tap_bytes(wanted.interpolation, wanted.display.z.count);
          if (site.backend == BackendKind::cuda) {
            statement.memory.device = taps;
          } else {
            statement.memory.host = taps + team_size(site) * blended_row(wanted) * sizeof(float);
          }
          return statement;
        },
};

}  // namespace echoform
