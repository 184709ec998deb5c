#include "stages/beamform/adaptive_beamform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "stages/beamform/adaptive_receivers.hpp"
#include "stages/beamform/beamform.hpp"
#include "stages/beamform/law_checks.hpp"
#include "stages/beamform/pixel_columns.hpp"
#include "stages/block_checks.hpp"

namespace echoform {
namespace {

using namespace beamform;  // the tables of this folder

const AdaptiveKind& kind_of(const AdaptiveBeamformOptions& options) {
  return adaptive_kind(options.adaptive.kind, "adaptive-beamform stage, kind");
}

/// The working memory of a thread, for one column.
struct ColumnScratch {
  std::vector<float> real, imaginary;  // [receiver, point]: channels
  std::vector<float> sums;             // input of weights by sums, their results and their workspace
  std::vector<float> gathered;         // [point, channel]: of a window, the imaginary parts behind the real parts
  std::vector<float> turned;           // the same, times -j
  std::vector<float> weights;          // weights of the channels of a point
  std::vector<std::uint32_t> heard;
  std::vector<double> workspace;
};

struct ScratchSizes {
  std::size_t channels = 0, sums = 0, gathered = 0, receivers = 0, workspace = 0;

  explicit ScratchSizes(const AdaptiveBeamformOptions& options) : receivers(options.sum.pairs.receivers) {
    const std::size_t points = options.sum.grid.z.count;
    channels = receivers * points;
    sums = 5 * points + point_workspace(options.adaptive, points);
    gathered = 2 * receivers * (2 * options.adaptive.half_window + 1);
    workspace = channel_workspace(options.adaptive, receivers);
  }
  [[nodiscard]] std::size_t bytes() const {
    return (2 * channels + sums + 2 * gathered + receivers) * sizeof(float) + receivers * sizeof(std::uint32_t) +
           workspace * sizeof(double);
  }
};

float sign_of(float value) {
  return value > 0.0F ? 1.0F : value < 0.0F ? -1.0F : 0.0F;
}

class AdaptiveBeamformCpu final : public Stage {
 public:
  AdaptiveBeamformCpu(AdaptiveBeamformOptions options, Backend& backend)
      : options_(std::move(options)), kind_(kind_of(options_)), backend_(backend) {
    check_adaptive(options_);
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    input_ = inputs.only("adaptive-beamform");
    const BeamformOptions& sum = options_.sum;
    require_adaptive_input(sum, input_, BackendKind::cpu);
    const auto queue = backend_.make_queue();
    ThreadTeam& team = team_of(*queue);
    transmit_ = make_leg_columns(sum, BeamformSide::transmit, team);
    receive_ = make_leg_columns(sum, BeamformSide::receive, team);
    const ScratchSizes sizes(options_);
    scratch_.resize(team.size());
    for (ColumnScratch& scratch : scratch_) {
      scratch.real.resize(sizes.channels);
      scratch.imaginary.resize(sizes.channels);
      scratch.sums.resize(sizes.sums);
      scratch.gathered.resize(sizes.gathered);
      scratch.turned.resize(sizes.gathered);
      scratch.weights.resize(sizes.receivers);
      scratch.heard.resize(sizes.receivers);
      scratch.workspace.resize(sizes.workspace);
    }
    receivers_ = live_receivers(sum);
    return beamform_output(sum.grid);
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const std::size_t columns = options_.sum.grid.x.count * options_.sum.grid.y.count;
    team_of(queue).for_each(columns, 1, [&](std::size_t first, std::size_t last, std::size_t member) {
      for (std::size_t column = first; column < last; ++column) {
        sum_channels(input.as<float>(), column, scratch_[member]);
        std::complex<float>* const image = output.as<std::complex<float>>() + column;
        if (kind_.of_sums != nullptr) {
          weigh_sums(column, scratch_[member], image, columns);
        } else {
          for (std::size_t k = 0; k < transmit_.points; ++k) image[k * columns] = weighed(column, k, scratch_[member]);
        }
      }
    });
  }

  [[nodiscard]] std::size_t bytes() const noexcept override {
    return transmit_.bytes() + receive_.bytes() + scratch_.size() * ScratchSizes(options_).bytes();
  }

 private:
  void sum_channels(const float* input, std::size_t column, ColumnScratch& scratch) const noexcept {
    std::ranges::fill(scratch.real, 0.0F);
    std::ranges::fill(scratch.imaginary, 0.0F);
    const std::size_t points = transmit_.points;
    for (const PairRun& run : options_.sum.pairs.lookups) {
      for (std::uint32_t n = 0; n < run.count; ++n) {
        const std::size_t source = run.reversed ? run.receiver + n : run.event;
        const std::size_t receiver = run.reversed ? run.event : run.receiver + n;
        const std::size_t sent = column * transmit_.sources + source;
        const std::size_t heard = column * receive_.sources + receiver;
        add_row(input + (run.row + n) * 2 * input_.row_stride, transmit_.base[sent] + receive_.base[heard],
                transmit_.offset.data() + sent * points, receive_.offset.data() + heard * points,
                transmit_.weight.data() + sent * points, receive_.weight.data() + heard * points,
                scratch.real.data() + receiver * points, scratch.imaginary.data() + receiver * points);
      }
    }
  }

  void add_row(const float* row, double base, const float* out, const float* back, const float* weights, const float* heard,
               float* real, float* imaginary) const noexcept {
    const auto samples = static_cast<std::int64_t>(input_.columns);
    const auto whole = static_cast<std::int64_t>(base);
    const float* const quadrature = row + input_.row_stride;
    const bool linear = options_.sum.interpolation == Interpolation::linear;
    for (std::size_t k = 0; k < transmit_.points; ++k) {
      const float weight = weights[k];
      if (weight == 0.0F || heard[k] == 0.0F) continue;
      const float beyond = out[k] + back[k];
      const float floor = std::floor(linear ? beyond : beyond + 0.5F);
      const std::int64_t n = whole + static_cast<std::int64_t>(floor);
      if (n < 0 || n >= samples - (linear ? 1 : 0)) continue;
      const float part = linear ? beyond - floor : 0.0F;
      const std::int64_t next = linear ? n + 1 : n;
      real[k] += weight * (row[n] + part * (row[next] - row[n]));
      imaginary[k] += weight * (quadrature[n] + part * (quadrature[next] - quadrature[n]));
    }
  }

  [[nodiscard]] const float* receive_weights(std::size_t column, std::uint32_t receiver) const noexcept {
    return receive_.weight.data() + (column * receive_.sources + receiver) * receive_.points;
  }

  void weigh_sums(std::size_t column, ColumnScratch& scratch, std::complex<float>* image, std::size_t stride) const noexcept {
    const std::size_t points = transmit_.points;
    float* const modulus = scratch.sums.data();
    float* const second = modulus + points;
    float* const low = second + points;
    float* const weight = low + points;
    float* const result = weight + points;
    for (std::size_t k = 0; k < points; ++k) {
      float sum_re = 0.0F, sum_im = 0.0F, all = 0.0F, squares = 0.0F, energy = 0.0F, signs_re = 0.0F, signs_im = 0.0F;
      std::size_t heard = 0;
      for (const std::uint32_t j : receivers_) {
        const float w = receive_weights(column, j)[k];
        if (!(w > 0.0F)) continue;
        const float re = scratch.real[j * points + k];
        const float im = scratch.imaginary[j * points + k];
        scratch.heard[heard++] = j;
        sum_re += w * re;
        sum_im += w * im;
        all += w;
        squares += w * (re * re + im * im);
        energy += re * re + im * im;
        signs_re += w * sign_of(re);
        signs_im += w * sign_of(im);
      }
      image[k * stride] = {sum_re, sum_im};
      modulus[k] = std::sqrt(sum_re * sum_re + sum_im * sum_im);
      weight[k] = all;
      second[k] = squares;
      if (kind_.sums_of == ChannelSums::signs) second[k] = std::sqrt(0.5F * (signs_re * signs_re + signs_im * signs_im));
      if (kind_.sums_of == ChannelSums::low_frequencies) {
        second[k] = energy;
        weight[k] = static_cast<float>(heard);
        low[k] = low_energy(k, heard, scratch);
      }
    }
    kind_.of_sums(options_.adaptive,
                  {.sum = modulus,
                   .second = second,
                   .low = low,
                   .weight = weight,
                   .pairs = nullptr,
                   .points = points,
                   .workspace = result + points},
                  result);
    for (std::size_t k = 0; k < points; ++k) image[k * stride] *= options_.sum.scale * result[k];
  }

  /// Sum of |S(m)|^2 over the low spatial frequencies m, each once, of the channels of weight > 0.
  [[nodiscard]] float low_energy(std::size_t point, std::size_t heard, const ColumnScratch& scratch) const noexcept {
    const auto most = static_cast<long>(options_.adaptive.low_frequencies);
    const auto count = static_cast<long>(heard);
    const long first = 2 * most + 1 >= count ? 0 : -most;
    const long last = 2 * most + 1 >= count ? count - 1 : most;
    double energy = 0.0;
    for (long m = first; m <= last; ++m) {
      const std::complex<double> step =
          std::polar(1.0, -2.0 * std::numbers::pi * static_cast<double>(m) / static_cast<double>(count));
      double turn_re = 1.0, turn_im = 0.0, re = 0.0, im = 0.0;
      for (std::size_t n = 0; n < heard; ++n) {
        const std::size_t at = scratch.heard[n] * transmit_.points + point;
        const double a = scratch.real[at];
        const double b = scratch.imaginary[at];
        re += a * turn_re - b * turn_im;
        im += a * turn_im + b * turn_re;
        const double next = turn_re * step.real() - turn_im * step.imag();
        turn_im = turn_re * step.imag() + turn_im * step.real();
        turn_re = next;
      }
      energy += re * re + im * im;
    }
    return static_cast<float>(energy);
  }

  /// The weighted sum for weights that need the channels themselves.
  [[nodiscard]] std::complex<float> weighed(std::size_t column, std::size_t point, ColumnScratch& scratch) const noexcept {
    const std::size_t points = transmit_.points;
    const std::size_t half = options_.adaptive.half_window;
    const std::size_t first = point - std::min(point, half);
    const std::size_t count = std::min(points - 1, point + half) + 1 - first;
    std::complex<float> sum;
    float all = 0.0F;
    std::size_t heard = 0;
    for (const std::uint32_t j : receivers_) {
      const float w = receive_weights(column, j)[point];
      if (!(w > 0.0F)) continue;
      scratch.weights[heard] = w;
      scratch.heard[heard++] = j;
      sum += w * std::complex<float>(scratch.real[j * points + point], scratch.imaginary[j * points + point]);
      all += w;
    }
    if (heard == 0) return {};
    float* const real = scratch.gathered.data();
    float* const imaginary = real + count * heard;
    float* const turned = scratch.turned.data();
    for (std::size_t n = 0; n < heard; ++n) {
      for (std::size_t k = 0; k < count; ++k) {
        real[k * heard + n] = scratch.real[scratch.heard[n] * points + first + k];
        imaginary[k * heard + n] = scratch.imaginary[scratch.heard[n] * points + first + k];
        turned[k * heard + n] = imaginary[k * heard + n];
        turned[(count + k) * heard + n] = -real[k * heard + n];
      }
    }
    ChannelWindow window{.weights = scratch.weights.data(),
                         .real = real,
                         .imaginary = kind_.analytic ? imaginary : nullptr,
                         .channels = heard,
                         .points = kind_.analytic ? count : 2 * count,
                         .centre = point - first,
                         .workspace = scratch.workspace.data()};
    const float scale = options_.sum.scale;
    const float value = kind_.of_channels(options_.adaptive, window);
    if (kind_.result == AdaptiveResult::image) return value;
    if (kind_.result == AdaptiveResult::factor) return scale * value * sum;
    window.real = turned;
    window.imaginary = turned + count * heard;
    return scale * all * std::complex<float>(value, kind_.of_channels(options_.adaptive, window));
  }

  AdaptiveBeamformOptions options_;
  const AdaptiveKind& kind_;
  Backend& backend_;
  BlockSpec input_;
  LegColumns transmit_, receive_;
  std::vector<std::uint32_t> receivers_;
  std::vector<ColumnScratch> scratch_;
};

}  // namespace

std::unique_ptr<Stage> make_adaptive_beamform_cpu(AdaptiveBeamformOptions options, Backend& backend) {
  return std::make_unique<AdaptiveBeamformCpu>(std::move(options), backend);
}

constinit const StageKind adaptive_beamform_stage{
    .name = "adaptive-beamform",
    .cpu = [](const StageOptions& options,
              Backend& backend) { return make_adaptive_beamform_cpu(options.as<AdaptiveBeamformOptions>(), backend); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options,
               Backend& backend) { return make_adaptive_beamform_cuda(options.as<AdaptiveBeamformOptions>(), backend); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          const auto& wanted = options.as<AdaptiveBeamformOptions>();
          check_adaptive(wanted);
          check_directivity(wanted.sum);
          require_adaptive_input(wanted.sum, inputs.only("adaptive-beamform"), site.backend);
          StageStatement statement{beamform_output(wanted.sum.grid), {}};
          if (site.backend == BackendKind::cuda) {
            const AdaptivePixelSizes sizes = adaptive_pixel_sizes(wanted);
            statement.memory.of_pixels = sizes.tables;
            statement.memory.device = sizes.tables + sizes.pixels;
            return statement;
          }
          const Grid& grid = wanted.sum.grid;
          statement.memory.of_pixels =
              leg_columns_bytes(grid, wanted.sum.pairs.events) + leg_columns_bytes(grid, wanted.sum.pairs.receivers);
          statement.memory.host = statement.memory.of_pixels + team_size(site) * ScratchSizes(wanted).bytes();
          return statement;
        },
};

}  // namespace echoform
