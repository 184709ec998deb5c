#include "gpu/stream_queue.hpp"
#include "stages/block_checks.hpp"
#include "stages/envelope/envelope.hpp"
#include "stages/envelope/envelope_launch.hpp"

namespace echoform {
namespace {

class EnvelopeCuda final : public Stage {
 public:
  explicit EnvelopeCuda(const EnvelopeOptions& options) : options_(options) {}

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("envelope");
    output_ = envelope_output(options_, input);
    complex_.planar = input.type == ElementType::planar_complex64;
    complex_.stride = stride_of(input);
    lead_ = 2 * input.lead;
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    ComplexRows complex = complex_;
    complex.first = input.as<float>() + lead_;
    const cudaStream_t stream = gpu::stream_of(queue);
    if (options_.soundings == 1) {
      launch_envelope(complex, output.as<float>(), output_.rows, output_.columns, stream);
    } else {
      launch_mean_envelope(complex, options_.soundings, output.as<float>(), output_.rows, output_.columns, stream);
    }
  }

 private:
  EnvelopeOptions options_;
  BlockSpec output_;
  ComplexRows complex_;   // complete except for the place
  std::size_t lead_ = 0;  // in floats
};

}  // namespace

std::unique_ptr<Stage> make_envelope_cuda(const EnvelopeOptions& options) {
  return std::make_unique<EnvelopeCuda>(options);
}

}  // namespace echoform
