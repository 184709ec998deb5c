#include <utility>

#include "gpu/cuda_backend.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/block_checks.hpp"
#include "stages/time_gain/device_gain.hpp"
#include "stages/time_gain/time_gain.hpp"
#include "stages/time_gain/time_gain_launch.hpp"

namespace echoform {
namespace {

class TimeGainCuda final : public Stage {
 public:
  TimeGainCuda(TimeGainOptions options, Backend& backend) : options_(std::move(options)), backend_(backend) {}

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("time-gain");
    output_ = time_gain_output(options_, input);
    input_stride_ = stride_of(input);
    gain_.prepare(*options_.gain, backend_);
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    launch_time_gain({input.as<float>(), output.as<float>(), gain_.data(), input_stride_, output_.row_stride}, output_.rows,
                     output_.columns, gpu::stream_of(queue));
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return gain_.bytes(); }

  [[nodiscard]] bool accepts(const StageOptions& options) const override { return accepts_time_gain(options, output_.columns); }
  void retune(const StageOptions& options, ExecutionQueue& queue) noexcept override {
    options_ = *options.get<TimeGainOptions>();
    gain_.change(*options_.gain, queue);
  }

 private:
  TimeGainOptions options_;
  Backend& backend_;
  BlockSpec output_;
  std::size_t input_stride_ = 0;
  gpu::DeviceGain gain_;
};

}  // namespace

std::unique_ptr<Stage> make_time_gain_cuda(TimeGainOptions options, Backend& backend) {
  return std::make_unique<TimeGainCuda>(std::move(options), backend);
}

}  // namespace echoform
