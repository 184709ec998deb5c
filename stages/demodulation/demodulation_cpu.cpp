#include <algorithm>
#include <cstring>
#include <utility>

#include "stages/block_checks.hpp"
#include "stages/demodulation/demodulation.hpp"
#include "stages/demodulation/demodulation_kernels.hpp"
#include "stages/demodulation/demodulation_kernels_body.hpp"
#include "stages/demodulation/demodulation_tables.hpp"
#include "stages/raw_rows/quality_counter.hpp"
#include "stages/raw_rows/sample_kernels.hpp"

namespace echoform {
namespace {

/// Number of kept samples that the loop computes: whole blocks.
std::size_t padded_kept(const DemodulationOptions& options, std::size_t samples) {
  const std::size_t count = (samples + options.decimation - 1) / options.decimation;
  return (count + demodulation_block - 1) / demodulation_block * demodulation_block;
}

}  // namespace

std::size_t demodulation_bytes_cpu(const DemodulationOptions& options, std::size_t samples, std::size_t members) {
  const std::size_t kept = padded_kept(options, samples);
  const PhaseLayout layout(options, kept);
  const std::size_t taps = 2 * layout.half + 1;
  const std::size_t scratch = samples + options.decimation * layout.pitch + 2 * kept;
  return taps * (2 * sizeof(float) + sizeof(std::ptrdiff_t)) + 2 * kept * sizeof(float) + members * scratch * sizeof(float);
}

namespace {

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
    kept_ = padded_kept(options_, samples_);
    const PhaseLayout layout(options_, kept_);
    lead_ = layout.lead;
    pitch_ = layout.pitch;
    taps_ = demodulation_taps(options_, layout);
    turns_ = demodulation_turns(options_, kept_);
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
                 .offsets = taps_.offsets.data(),
                 .cosines = taps_.cosines.data(),
                 .sines = taps_.sines.data(),
                 .taps = taps_.offsets.size(),
                 .turn_cosines = turns_.cosines.data(),
                 .turn_sines = turns_.sines.data(),
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
  [[nodiscard]] bool accepts(const StageOptions& options) const override {
    return accepts_gain(options_, options.as<DemodulationOptions>(), samples_);
  }
  void retune(const StageOptions& options, ExecutionQueue& /*queue*/) noexcept override {
    options_.time_gain = options.get<DemodulationOptions>()->time_gain;
  }
  [[nodiscard]] std::size_t bytes() const noexcept override {
    return demodulation_bytes_cpu(options_, samples_, scratch_.size());
  }

 private:
  struct Scratch {
    std::vector<float> row;
    std::vector<float> phases;  // [phase, lead + kept + lead]
    std::vector<float> out;
  };

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
  DemodulationTaps taps_;
  DemodulationTurns turns_;
  std::vector<Scratch> scratch_;  // one per member of the team
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

}  // namespace echoform
