#include "gpu/stream_queue.hpp"
#include "stages/block_checks.hpp"
#include "stages/envelope/envelope.hpp"
#include "stages/envelope/envelope_launch.hpp"

namespace echoform {
namespace {

class EnvelopeCuda final : public Stage {
 public:
  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("envelope");
    output_ = envelope_output(input, BackendKind::cuda);
    input_stride_ = stride_of(input);
    lead_ = input.lead;
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    launch_envelope(input.as<float>() + 2 * lead_, output.as<float>(), output_.rows, output_.columns, input_stride_,
                    gpu::stream_of(queue));
  }

 private:
  BlockSpec output_;
  std::size_t input_stride_ = 0;
  std::size_t lead_ = 0;  // of analytic signals
};

}  // namespace

std::unique_ptr<Stage> make_envelope_cuda() {
  return std::make_unique<EnvelopeCuda>();
}

}  // namespace echoform
