#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <optional>
#include <utility>

#include "base/errors.hpp"
#include "stages/block_checks.hpp"
#include "stages/wall_filter/clutter_space.hpp"
#include "stages/wall_filter/wall_filter.hpp"
#include "stages/wall_filter/wall_filter_kernels.hpp"
#include "stages/wall_filter/wall_filter_kernels_body.hpp"

namespace echoform {
namespace {

using Complex = HermitianVectors::Complex;

/// Number of floats of one member's scratch: a piece of all samples of an ensemble, with I and Q separate.
std::size_t scratch_floats(const WallFilterOptions& options) {
  return 2 * options.ensemble * wall_filter_piece;
}

std::size_t wall_filter_bytes(const WallFilterOptions& options, std::size_t lines, std::size_t members) {
  const std::size_t square = options.ensemble * options.ensemble;
  std::size_t bytes = (members * scratch_floats(options) + filtered_ensemble(options) * options.ensemble) * sizeof(float);
  if (options.kind == WallFilterKind::svd) {
    bytes += square * sizeof(float) + lines * square * sizeof(Complex) + HermitianVectors::bytes_of(options.ensemble);
  }
  return bytes;
}

class WallFilterCpu final : public Stage {
 public:
  WallFilterCpu(WallFilterOptions options, std::size_t members, SimdLevel level)
      : options_(std::move(options)), kernel_(wall_filter_kernel(level)), members_(members) {
    validate(options_);
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("wall-filter");
    output_ = wall_filter_output(options_, input, BackendKind::cpu);
    planar_ = input.type == ElementType::planar_complex64;
    input_stride_ = 2 * stride_of(input);
    lines_ = input.rows / options_.ensemble;
    filtered_ = filtered_ensemble(options_);
    const std::vector<double> matrix = wall_filter_matrix(options_);
    matrix_re_.assign(matrix.begin(), matrix.end());
    scratch_.assign(members_ * scratch_floats(options_), 0.0F);
    if (options_.kind == WallFilterKind::svd) {
      matrix_im_.assign(matrix.size(), 0.0F);
      products_.assign(lines_ * matrix.size(), Complex());
      clutter_.emplace(options_.ensemble);
    }
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    ThreadTeam& team = team_of(queue);
    if (clutter_) find_clutter(input, team);
    team.for_each(lines_, 1, [&](std::size_t first, std::size_t last, std::size_t member) {
      float* const scratch = scratch_.data() + member * scratch_floats(options_);
      for (std::size_t line = first; line < last; ++line) {
        float* const out = output.as<float>() + line * filtered_ * 2 * output_.row_stride;
        for (std::size_t from = 0; from < output_.columns; from += wall_filter_piece) {
          const std::size_t count = std::min(wall_filter_piece, output_.columns - from);
          load(input, line, from, count, scratch);
          WallFilterTask task;
          task.re = scratch;
          task.im = scratch + options_.ensemble * wall_filter_piece;
          task.matrix_re = matrix_re_.data();
          task.matrix_im = clutter_ ? matrix_im_.data() : nullptr;
          task.ensemble = options_.ensemble;
          task.filtered = filtered_;
          task.out = out + from;
          task.quadrature = output_.row_stride;
          task.out_stride = 2 * output_.row_stride;
          task.count = count;
          kernel_(task);
        }
        for (std::size_t row = 0; row < 2 * filtered_; ++row) {
          std::fill(out + row * output_.row_stride + output_.columns, out + (row + 1) * output_.row_stride, 0.0F);
        }
      }
    });
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return wall_filter_bytes(options_, lines_, members_); }

 private:
  /// Copies a piece of a line's ensemble into `scratch`: I of all samples, then Q. Values beyond `count` are 0.
  void load(const InputBlocks& input, std::size_t line, std::size_t from, std::size_t count, float* scratch) const noexcept {
    float* const re = scratch;
    float* const im = scratch + options_.ensemble * wall_filter_piece;
    for (std::size_t n = 0; n < options_.ensemble; ++n) {
      const float* const row = input.as<float>() + (line * options_.ensemble + n) * input_stride_;
      const std::size_t at = n * wall_filter_piece;
      if (planar_) {
        std::copy_n(row + from, count, re + at);
        std::copy_n(row + input_stride_ / 2 + from, count, im + at);
      } else {
        for (std::size_t k = 0; k < count; ++k) {
          re[at + k] = row[2 * (from + k)];
          im[at + k] = row[2 * (from + k) + 1];
        }
      }
      std::fill(re + at + count, re + at + wall_filter_piece, 0.0F);
      std::fill(im + at + count, im + at + wall_filter_piece, 0.0F);
    }
  }

  /// Makes the filter of this frame: I - V V' of the strongest directions.
  void find_clutter(const InputBlocks& input, ThreadTeam& team) noexcept {
    const std::size_t size = options_.ensemble;
    team.for_each(lines_, 1, [&](std::size_t first, std::size_t last, std::size_t member) {
      for (std::size_t line = first; line < last; ++line) {
        sum_products(input, line, scratch_.data() + member * scratch_floats(options_));
      }
    });
    const std::span<Complex> matrix = clutter_->matrix();
    std::ranges::fill(matrix, Complex());
    for (std::size_t line = 0; line < lines_; ++line) {
      for (std::size_t k = 0; k < matrix.size(); ++k) matrix[k] += products_[line * matrix.size() + k];
    }
    const auto order = clutter_->find();
    const std::span<const Complex> vectors = clutter_->vectors();
    for (std::size_t m = 0; m < size; ++m) {
      for (std::size_t n = 0; n < size; ++n) {
        Complex sum(m == n ? 1.0 : 0.0);
        for (std::size_t k = 0; k < options_.components; ++k) {
          sum -= vectors[m * size + order[k]] * std::conj(vectors[n * size + order[k]]);
        }
        matrix_re_[m * size + n] = static_cast<float>(sum.real());
        matrix_im_[m * size + n] = static_cast<float>(sum.imag());
      }
    }
  }

  /// Sums x[m] conj(x[n]) over the ranges of a line, in separate lanes so that the sums vectorise.
  void sum_products(const InputBlocks& input, std::size_t line, float* scratch) noexcept {
    constexpr std::size_t lanes = 8;
    const std::size_t size = options_.ensemble;
    Complex* const sums = products_.data() + line * size * size;
    std::fill_n(sums, size * size, Complex());
    const float* const re = scratch;
    const float* const im = scratch + size * wall_filter_piece;
    for (std::size_t from = 0; from < output_.columns; from += wall_filter_piece) {
      load(input, line, from, std::min(wall_filter_piece, output_.columns - from), scratch);
      for (std::size_t m = 0; m < size; ++m) {
        const float* const a_re = re + m * wall_filter_piece;
        const float* const a_im = im + m * wall_filter_piece;
        for (std::size_t n = m; n < size; ++n) {
          const float* const b_re = re + n * wall_filter_piece;
          const float* const b_im = im + n * wall_filter_piece;
          double sum_re[lanes] = {};
          double sum_im[lanes] = {};
          for (std::size_t k = 0; k < wall_filter_piece; k += lanes) {
            for (std::size_t l = 0; l < lanes; ++l) {
              sum_re[l] += static_cast<double>(a_re[k + l]) * b_re[k + l] + static_cast<double>(a_im[k + l]) * b_im[k + l];
              sum_im[l] += static_cast<double>(a_im[k + l]) * b_re[k + l] - static_cast<double>(a_re[k + l]) * b_im[k + l];
            }
          }
          Complex sum;
          for (std::size_t l = 0; l < lanes; ++l) sum += Complex(sum_re[l], sum_im[l]);
          sums[m * size + n] += sum;
        }
      }
    }
    for (std::size_t m = 0; m < size; ++m) {
      for (std::size_t n = 0; n < m; ++n) sums[m * size + n] = std::conj(sums[n * size + m]);
    }
  }

  WallFilterOptions options_;
  WallFilterKernel kernel_;
  std::size_t members_;
  BlockSpec output_;
  bool planar_ = false;
  std::size_t input_stride_ = 0;  // distance between rows, in floats
  std::size_t lines_ = 0;
  std::size_t filtered_ = 0;
  std::vector<float> matrix_re_;
  std::vector<float> matrix_im_;             // for svd
  std::vector<float> scratch_;               // one part per member of the team
  std::vector<Complex> products_;            // for svd, one part per line
  std::optional<HermitianVectors> clutter_;  // for svd
};

}  // namespace

BlockSpec wall_filter_output(const WallFilterOptions& options, const BlockSpec& input, BackendKind backend) {
  require_block(input, "wall-filter", {ElementType::complex64, ElementType::planar_complex64});
  if (input.rows % options.ensemble != 0) {
    throw InputError("wall-filter stage, rows", fmt::format("{}", input.rows),
                     fmt::format("a multiple of the ensemble, {}", options.ensemble));
  }
  BlockSpec output;
  output.type = backend == BackendKind::cuda ? ElementType::complex64 : ElementType::planar_complex64;
  output.rows = input.rows / options.ensemble * filtered_ensemble(options);
  output.columns = input.columns;
  output.row_stride = padded_columns(input.columns);
  return output;
}

WallFilterKernel wall_filter_kernel(SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::avx512) return &wall_filter_avx512;
  if (level == SimdLevel::avx2) return &wall_filter_avx2;
#endif
  return &wall_filter_portable;
}

void wall_filter_portable(const WallFilterTask& task) {
  wall_filter_piece_of(task);
}

std::unique_ptr<Stage> make_wall_filter_cpu(WallFilterOptions options, std::size_t members, SimdLevel level) {
  return std::make_unique<WallFilterCpu>(std::move(options), members, level);
}

constinit const StageKind wall_filter_stage{
    .name = "wall-filter",
    .cpu = [](const StageOptions& options,
              Backend& backend) { return make_wall_filter_cpu(options.as<WallFilterOptions>(), team_size(backend)); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options,
               Backend& backend) { return make_wall_filter_cuda(options.as<WallFilterOptions>(), backend); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          const auto& wanted = options.as<WallFilterOptions>();
          validate(wanted);
          const BlockSpec& input = inputs.only("wall-filter");
          StageStatement statement{wall_filter_output(wanted, input, site.backend), {}};
          if (site.backend == BackendKind::cuda) {
            statement.memory.device = wall_filter_device_bytes(wanted);
          } else {
            statement.memory.host = wall_filter_bytes(wanted, input.rows / wanted.ensemble, team_size(site));
          }
          return statement;
        },
};

}  // namespace echoform
