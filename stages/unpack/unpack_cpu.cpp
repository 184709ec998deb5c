#include <algorithm>

#include "pipeline/raw_samples.hpp"
#include "stages/block_checks.hpp"
#include "stages/unpack/quality_counter.hpp"
#include "stages/unpack/sample_kernels.hpp"
#include "stages/unpack/sample_scale.hpp"
#include "stages/unpack/unpack.hpp"

namespace echoform {
namespace {

class UnpackCpu final : public Stage {
 public:
  UnpackCpu(double sample_scale, SimdLevel level) : weight_(static_cast<float>(sample_scale)), level_(level) {
    require_sample_scale(sample_scale, "unpack");
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("unpack");
    output_ = unpack_output(input);
    input_row_bytes_ = raw_row_bytes(input);
    const RowStore store = output_.bytes() > streaming_bytes ? RowStore::streaming : RowStore::cached;
    kernel_ = row_kernel(encoding_of(input.type), store, level_);
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    quality_.reset();
    // Pieces of some 64 KB: large against the cost of taking one, small against a frame.
    const std::size_t grain = std::max<std::size_t>(1, 16384 / output_.columns);
    team_of(queue).for_each(output_.rows, grain, [&](std::size_t first, std::size_t last, std::size_t /*member*/) {
      SampleQuality seen;
      for (std::size_t row = first; row < last; ++row) {
        kernel_(input.as<std::byte>() + row * input_row_bytes_, nullptr, output.as<float>() + row * output_.row_stride,
                output_.columns, weight_, seen);
      }
      quality_.add(seen);
    });
  }

  [[nodiscard]] StageFacts facts() const noexcept override { return {.quality = quality_.read(), .reference = {}}; }

 private:
  float weight_;
  SimdLevel level_;
  BlockSpec output_;
  std::size_t input_row_bytes_ = 0;
  RowKernel kernel_ = nullptr;
  QualityCounter quality_;
};

}  // namespace

BlockSpec unpack_output(const BlockSpec& input) {
  require_block(input, "unpack", {ElementType::int16, ElementType::packed12, ElementType::float32});
  BlockSpec output = input;
  output.type = ElementType::float32;
  output.row_stride = padded_columns(input.columns);
  output.lead = 0;
  output.trailer = 0;
  return output;
}

std::unique_ptr<Stage> make_unpack_cpu(double sample_scale, SimdLevel level) {
  return std::make_unique<UnpackCpu>(sample_scale, level);
}

constinit const StageKind unpack_stage{
    .name = "unpack",
    .cpu = [](const StageOptions& options, Backend&) { return make_unpack_cpu(options.as<UnpackOptions>().sample_scale); },
#ifdef ECHOFORM_WITH_CUDA
    .cuda = [](const StageOptions& options,
               Backend& backend) { return make_unpack_cuda(options.as<UnpackOptions>().sample_scale, backend); },
#endif
    .state =
        [](const StageOptions& options, const InputSpecs& inputs, const StageSite& site) {
          require_sample_scale(options.as<UnpackOptions>().sample_scale, "unpack");
          return state_with_facts(unpack_output(inputs.only("unpack")), site);
        },
};

}  // namespace echoform
