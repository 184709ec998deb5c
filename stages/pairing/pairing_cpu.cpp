#include <algorithm>
#include <cstring>
#include <utility>

#include "stages/pairing/pairing.hpp"
#include "stages/raw_rows/quality_counter.hpp"
#include "stages/raw_rows/sample_kernels.hpp"
#include "stages/raw_rows/sample_scale.hpp"

namespace echoform {
namespace {

class PairingCpu final : public Stage {
 public:
  PairingCpu(PairingOptions options, SimdLevel level) : options_(std::move(options)), level_(level) { validate(options_); }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("pairing");
    output_ = pairing_output(options_, input);
    input_row_bytes_ = stride_of(input);
    const RowStore store = output_.bytes() > streaming_bytes ? RowStore::streaming : RowStore::cached;
    kernel_ = row_kernel(input.encoding, store, level_);
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    quality_.reset();
    const std::vector<PairSource>& sources = *options_.sources;
    const auto scale = static_cast<float>(options_.sample_scale);
    const std::size_t grain = std::max<std::size_t>(1, 16384 / output_.columns);
    team_of(queue).for_each(output_.rows, grain, [&](std::size_t first, std::size_t last, std::size_t /*member*/) {
      SampleQuality seen;
      for (std::size_t row = first; row < last; ++row) {
        const PairSource& source = sources[row];
        float* const out = output.as<float>() + row * output_.row_stride;
        if (source.weight == 0.0F) {
          std::memset(out, 0, output_.columns * sizeof(float));
          continue;
        }
        const std::byte* const one = input.as<std::byte>() + source.first * input_row_bytes_;
        const std::byte* const other =
            source.second != source.first ? input.as<std::byte>() + source.second * input_row_bytes_ : nullptr;
        kernel_(one, other, out, output_.columns, source.weight * scale, seen);
      }
      quality_.add(seen);
    });
  }

  [[nodiscard]] StageFacts facts() const noexcept override { return {.quality = quality_.read(), .reference = {}}; }

  /// Accepts other sources for the same number of rows: the blocks stay as they are.
  [[nodiscard]] bool accepts(const StageOptions& options) const override {
    const auto& wanted = options.as<PairingOptions>();
    validate(wanted);
    return wanted.a_scans == options_.a_scans && wanted.sources->size() == options_.sources->size();
  }
  void retune(const StageOptions& options, ExecutionQueue& /*queue*/) noexcept override {
    options_ = *options.get<PairingOptions>();
  }

 private:
  PairingOptions options_;
  SimdLevel level_;
  BlockSpec output_;
  std::size_t input_row_bytes_ = 0;
  RowKernel kernel_ = nullptr;
  QualityCounter quality_;
};

}  // namespace

std::unique_ptr<Stage> make_pairing_cpu(PairingOptions options, SimdLevel level) {
  return std::make_unique<PairingCpu>(std::move(options), level);
}

}  // namespace echoform
