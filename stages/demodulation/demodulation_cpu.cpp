#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <utility>

#include "stages/block_checks.hpp"
#include "stages/demodulation/demodulation.hpp"
#include "stages/demodulation/demodulation_kernels.hpp"
#include "stages/demodulation/demodulation_kernels_body.hpp"
#include "stages/raw_rows/quality_counter.hpp"
#include "stages/raw_rows/sample_kernels.hpp"

namespace echoform {
namespace {

/// How samples lie by phase, p = n mod D, so that those of a tap follow each other.
struct Layout {
  std::size_t half = 0;   // of the filter, L
  std::size_t lead = 0;   // zeros before the samples of a phase, and behind them
  std::size_t kept = 0;   // padded
  std::size_t pitch = 0;  // of phases

  Layout(const DemodulationOptions& options, std::size_t samples)
      : half(demodulation_filter(options).size() / 2), lead(half / options.decimation + 1) {
    const std::size_t count = (samples + options.decimation - 1) / options.decimation;
    kept = (count + demodulation_block - 1) / demodulation_block * demodulation_block;
    pitch = lead + kept + lead;
  }
  [[nodiscard]] std::size_t floats(const DemodulationOptions& options, std::size_t samples) const {
    return samples + options.decimation * pitch + 2 * kept;
  }
};

/// Tables of taps and kept samples, and the scratch of each member.
std::size_t demodulation_bytes(const DemodulationOptions& options, std::size_t samples, std::size_t members) {
  const Layout layout(options, samples);
  const std::size_t taps = 2 * layout.half + 1;
  return taps * (2 * sizeof(float) + sizeof(std::ptrdiff_t)) + 2 * layout.kept * sizeof(float) +
         members * layout.floats(options, samples) * sizeof(float);
}

class DemodulationCpu final : public Stage {
 public:
  DemodulationCpu(DemodulationOptions options, std::size_t members, SimdLevel level)
      : options_(std::move(options)), level_(level), kernel_(demodulation_kernel(level)), scratch_(members) {
    validate(options_);
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("demodulation");
    output_ = demodulation_output(options_, input);
    input_stride_ = stride_of(input);
    raw_ = input.type == ElementType::raw;
    samples_ = input.columns;
    if (raw_) unpack_ = row_kernel(input.encoding, RowStore::cached, level_);
    const Layout layout(options_, samples_);
    lead_ = layout.lead;
    kept_ = layout.kept;
    pitch_ = layout.pitch;
    make_tables(static_cast<std::ptrdiff_t>(layout.half));
    for (Scratch& scratch : scratch_) {
      scratch.row.assign(samples_, 0.0F);
      scratch.phases.assign(options_.decimation * pitch_, 0.0F);
      scratch.out.assign(2 * kept_, 0.0F);
    }
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    quality_.reset();
    team_of(queue).for_each(output_.rows, 4, [&](std::size_t first, std::size_t last, std::size_t member) {
      SampleQuality seen;
      Scratch& scratch = scratch_[member];
      for (std::size_t row = first; row < last; ++row) {
        spread(read(input[0], row, scratch, seen), scratch);
        kernel_({.samples = scratch.phases.data(),
                 .offsets = offsets_.data(),
                 .cosines = cosines_.data(),
                 .sines = sines_.data(),
                 .taps = offsets_.size(),
                 .turn_cosines = turn_cosines_.data(),
                 .turn_sines = turn_sines_.data(),
                 .count = kept_,
                 .out = scratch.out.data()});
        float* const out = output.as<float>() + 2 * row * output_.row_stride;
        std::memcpy(out, scratch.out.data(), 2 * output_.columns * sizeof(float));
        std::fill(out + 2 * output_.columns, out + 2 * output_.row_stride, 0.0F);
      }
      quality_.add(seen);
    });
  }

  [[nodiscard]] StageFacts facts() const noexcept override {
    if (!raw_) return {};
    return {.quality = quality_.read(), .reference = {}};
  }
  /// Another gain.
  [[nodiscard]] bool accepts(const StageOptions& options) const override {
    DemodulationOptions wanted = options.as<DemodulationOptions>();
    if ((wanted.time_gain == nullptr) != (options_.time_gain == nullptr)) return false;
    validate(wanted);
    if (wanted.time_gain != nullptr && wanted.time_gain->size() != samples_) return false;
    wanted.time_gain = options_.time_gain;
    return wanted == options_;
  }
  void retune(const StageOptions& options, ExecutionQueue& /*queue*/) noexcept override {
    options_.time_gain = options.get<DemodulationOptions>()->time_gain;
  }
  [[nodiscard]] std::size_t bytes() const noexcept override { return demodulation_bytes(options_, samples_, scratch_.size()); }

 private:
  struct Scratch {
    std::vector<float> row;
    std::vector<float> phases;  // [phase, lead + kept + lead]
    std::vector<float> out;
  };

  void make_tables(std::ptrdiff_t half) {
    const std::vector<double> filter = demodulation_filter(options_);
    const auto decimation = static_cast<std::ptrdiff_t>(options_.decimation);
    const double turn = 2.0 * std::numbers::pi;
    const double cycles = (options_.frequency + options_.filter_offset).value / options_.sample_rate.value;
    offsets_.clear();
    cosines_.clear();
    sines_.clear();
    for (std::ptrdiff_t j = -half; j <= half; ++j) {
      const std::ptrdiff_t phase = ((j % decimation) + decimation) % decimation;
      offsets_.push_back(phase * static_cast<std::ptrdiff_t>(pitch_) + static_cast<std::ptrdiff_t>(lead_) +
                         (j - phase) / decimation);
      const double angle = turn * cycles * static_cast<double>(j);
      const double h = filter[static_cast<std::size_t>(half - j)];
      cosines_.push_back(static_cast<float>(2.0 * h * std::cos(angle)));
      sines_.push_back(static_cast<float>(-2.0 * h * std::sin(angle)));
    }
    turn_cosines_.clear();
    turn_sines_.clear();
    for (std::size_t m = 0; m < kept_; ++m) {
      const double t = options_.start_time.value + static_cast<double>(m * options_.decimation) / options_.sample_rate.value;
      const double whole_turns = options_.frequency.value * t;
      const double angle = turn * (whole_turns - std::floor(whole_turns));
      turn_cosines_.push_back(static_cast<float>(std::cos(angle)));
      turn_sines_.push_back(static_cast<float>(-std::sin(angle)));
    }
  }

  const float* read(ConstBlock input, std::size_t row, Scratch& scratch, SampleQuality& seen) const noexcept {
    if (!raw_) return input.as<float>() + row * input_stride_;
    unpack_(input.as<std::byte>() + row * input_stride_, nullptr, scratch.row.data(), samples_,
            static_cast<float>(options_.sample_scale), seen);
    if (options_.time_gain != nullptr) {
      const float* const gain = options_.time_gain->data();
      for (std::size_t n = 0; n < samples_; ++n) scratch.row[n] *= gain[n];
    }
    return scratch.row.data();
  }

  void spread(const float* row, Scratch& scratch) const noexcept {
    const std::size_t decimation = options_.decimation;
    for (std::size_t phase = 0; phase < decimation; ++phase) {
      float* const to = scratch.phases.data() + phase * pitch_ + lead_;
      std::size_t m = 0;
      for (std::size_t n = phase; n < samples_; n += decimation) to[m++] = row[n];
    }
  }

  DemodulationOptions options_;
  SimdLevel level_;
  DemodulationKernel kernel_;
  BlockSpec output_;
  std::size_t input_stride_ = 0;
  bool raw_ = false;
  std::size_t samples_ = 0;
  std::size_t lead_ = 0;
  std::size_t kept_ = 0;
  std::size_t pitch_ = 0;
  RowKernel unpack_ = nullptr;
  std::vector<std::ptrdiff_t> offsets_;  // by tap
  std::vector<float> cosines_;
  std::vector<float> sines_;
  std::vector<float> turn_cosines_;  // by kept sample
  std::vector<float> turn_sines_;
  std::vector<Scratch> scratch_;  // by member of the team
  QualityCounter quality_;
};

}  // namespace

DemodulationKernel demodulation_kernel(SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::avx512) return &demodulate_row_avx512;
  if (level == SimdLevel::avx2) return &demodulate_row_avx2;
#endif
  return &demodulate_row_portable;
}

void demodulate_row_portable(const DemodulationTask& task) {
  demodulate_row(task);
}

std::unique_ptr<Stage> make_demodulation_cpu(DemodulationOptions options, std::size_t members, SimdLevel level) {
  return std::make_unique<DemodulationCpu>(std::move(options), members, level);
}

constinit const StageKind demodulation_stage{
    .name = "demodulation",
    .cpu = [](const StageOptions& options,
              Backend& backend) { return make_demodulation_cpu(options.as<DemodulationOptions>(), team_size(backend)); },
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          const auto& wanted = options.as<DemodulationOptions>();
          validate(wanted);
          const BlockSpec& input = inputs.only("demodulation");
          StageStatement statement{demodulation_output(wanted, input), {}};
          statement.memory.host = demodulation_bytes(wanted, input.columns, team_size(site));
          return statement;
        },
};

}  // namespace echoform
