#include <utility>

#include "gpu/cuda_backend.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/block_checks.hpp"
#include "stages/line_gain/line_gain.hpp"
#include "stages/line_gain/line_gain_launch.hpp"
#include "stages/time_gain/device_gain.hpp"

namespace echoform {
namespace {

class LineGainCuda final : public Stage {
 public:
  LineGainCuda(LineGainOptions options, Backend& backend) : options_(std::move(options)), backend_(backend) {}

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("line-gain");
    output_ = line_gain_output(options_, input);
    input_stride_ = stride_of(input);
    input_lead_ = input.lead;
    gain_.prepare(*options_.gain, backend_);
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    launch_line_gain({input.as<float>() + input_lead_, output.as<float>(), gain_.data(), input_stride_, output_.columns},
                     output_.rows, gpu::stream_of(queue));
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return gain_.bytes(); }

  [[nodiscard]] bool accepts(const StageOptions& options) const override {
    check_line_gain(options.as<LineGainOptions>(), output_.rows);
    return true;
  }
  void retune(const StageOptions& options, ExecutionQueue& queue) noexcept override {
    options_ = *options.get<LineGainOptions>();
    gain_.change(*options_.gain, queue);
  }

 private:
  LineGainOptions options_;
  Backend& backend_;
  BlockSpec output_;
  std::size_t input_stride_ = 0;
  std::size_t input_lead_ = 0;
  gpu::DeviceGain gain_;
};

}  // namespace

std::unique_ptr<Stage> make_line_gain_cuda(LineGainOptions options, Backend& backend) {
  return std::make_unique<LineGainCuda>(std::move(options), backend);
}

}  // namespace echoform
