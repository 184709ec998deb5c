#include <algorithm>
#include <atomic>
#include <bit>

#include "stages/block_checks.hpp"
#include "stages/compression/compression.hpp"
#include "stages/compression/compression_kernels.hpp"
#include "stages/compression/running_reference.hpp"
#include "stages/row_map.hpp"

namespace echoform {
namespace {

class CompressionCpu final : public Stage {
 public:
  CompressionCpu(const Compression& options, SimdLevel level) : reference_(options), kernels_(compression_kernels(level)) {}

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("compression");
    output_ = compression_output(input);
    input_stride_ = stride_of(input);
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    const auto* const values = input.as<std::uint32_t>();
    if (reference_.follows_peaks()) {
      const auto peak_of_row = reference_.follows_magnitudes() ? kernels_.peak_of_magnitudes : kernels_.peak;
      std::atomic<std::uint32_t> peak{0};
      const std::size_t grain = std::max<std::size_t>(1, row_map_grain / output_.columns);
      team_of(queue).for_each(output_.rows, grain, [&](std::size_t first, std::size_t last, std::size_t /*member*/) {
        std::uint32_t highest = 0;
        for (std::size_t row = first; row < last; ++row) {
          highest = std::max(highest, peak_of_row(values + row * input_stride_, output_.columns));
        }
        std::uint32_t seen = peak.load(std::memory_order_relaxed);
        while (seen < highest && !peak.compare_exchange_weak(seen, highest, std::memory_order_relaxed)) {
        }
      });
      reference_.follow(std::bit_cast<float>(peak.load()));
    }
    const CompressionCurve curve = reference_.curve();
    const auto levels_of_row = kernels_.levels(reference_.rule().kind);
    for_each_row(queue, output_.rows, output_.columns, [&](std::size_t row) {
      levels_of_row(values + row * input_stride_, output.as<std::uint8_t>() + row * output_.row_stride, output_.columns, curve);
    });
  }

  [[nodiscard]] StageFacts facts() const noexcept override { return {.quality = {}, .reference = reference_.state()}; }
  void resume(const StageFacts& facts) noexcept override {
    if (facts.reference) reference_.resume(facts.reference->known);
  }
  [[nodiscard]] bool accepts(const StageOptions& options) const override { return reference_.accepts(options); }
  void retune(const StageOptions& options, ExecutionQueue& /*queue*/) noexcept override {
    reference_.change(options.as<Compression>());
  }

 private:
  RunningReference reference_;
  CompressionKernels kernels_;
  BlockSpec output_;
  std::size_t input_stride_ = 0;
};

}  // namespace

BlockSpec compression_output(const BlockSpec& input) {
  require_block(input, "compression", {ElementType::float32});
  BlockSpec output = input;
  output.type = ElementType::uint8;
  output.row_stride = input.columns;
  return output;
}

std::unique_ptr<Stage> make_compression_cpu(const Compression& options, SimdLevel level) {
  return std::make_unique<CompressionCpu>(options, level);
}

constinit const StageKind compression_stage{
    .name = "compression",
    .cpu = [](const StageOptions& options, Backend&) { return make_compression_cpu(options.as<Compression>()); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options,
               Backend& backend) { return make_compression_cuda(options.as<Compression>(), backend); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          static_cast<void>(RunningReference(options.as<Compression>()));  // checks the options
          StageStatement statement{compression_output(inputs.only("compression")), {}};
          if (site.backend == BackendKind::cuda) {
            statement.memory.device = sizeof(DeviceReference);
            statement.memory.host = sizeof(ShownReference);
          }
          return statement;
        },
};

}  // namespace echoform
