#include "pipeline/raw_samples.hpp"
#include "stages/unpack/raw_row_reader.hpp"
#include "stages/unpack/sample_scale.hpp"
#include "stages/unpack/unpack.hpp"

namespace echoform {
namespace {

class UnpackCuda final : public Stage {
 public:
  UnpackCuda(double sample_scale, Backend& backend) : weight_(static_cast<float>(sample_scale)), reader_(backend) {
    require_sample_scale(sample_scale, "unpack");
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("unpack");
    const BlockSpec output = unpack_output(input);
    return reader_.prepare("unpack", input, output, nullptr, weight_);
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    reader_.process(input[0], output, queue);
  }

  [[nodiscard]] StageFacts facts() const noexcept override { return {.quality = reader_.quality(), .reference = {}}; }
  [[nodiscard]] DeviceFacts device_facts() const noexcept override { return reader_.device_facts(); }
  [[nodiscard]] std::size_t bytes() const noexcept override { return reader_.bytes(); }

 private:
  float weight_;
  gpu::RawRowReader reader_;
};

}  // namespace

std::unique_ptr<Stage> make_unpack_cuda(double sample_scale, Backend& backend) {
  return std::make_unique<UnpackCuda>(sample_scale, backend);
}

}  // namespace echoform
