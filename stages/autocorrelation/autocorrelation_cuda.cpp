#include "gpu/cuda_backend.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/autocorrelation/autocorrelation.hpp"
#include "stages/autocorrelation/autocorrelation_launch.hpp"
#include "stages/block_checks.hpp"

namespace echoform {
namespace {

class AutocorrelationCuda final : public Stage {
 public:
  explicit AutocorrelationCuda(const AutocorrelationOptions& options) : options_(options) { check_autocorrelation(options_); }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("autocorrelation");
    const BlockSpec output = autocorrelation_output(options_, input);
    const bool planar = input.type == ElementType::planar_complex64;
    input_lead_ = 2 * input.lead;
    work_.in_stride = 2 * stride_of(input);
    work_.step = planar ? 1 : 2;
    work_.quadrature = planar ? stride_of(input) : 1;
    work_.lines = output.rows / autocorrelation_planes;
    work_.ensemble = options_.ensemble;
    work_.ranges = output.columns;
    work_.half_window = options_.half_window;
    work_.out_stride = output.row_stride;
    return output;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    AutocorrelationWork work = work_;
    work.in = input.as<float>() + input_lead_;
    work.out = output.as<float>();
    launch_autocorrelation(work, gpu::stream_of(queue));
  }

 private:
  AutocorrelationOptions options_;
  std::size_t input_lead_ = 0;  // in floats
  AutocorrelationWork work_;    // complete except for what changes with each frame
};

}  // namespace

std::unique_ptr<Stage> make_autocorrelation_cuda(const AutocorrelationOptions& options) {
  return std::make_unique<AutocorrelationCuda>(options);
}

}  // namespace echoform
