#include <array>

#include "gpu/cuda_backend.hpp"
#include "gpu/queued_values.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/block_checks.hpp"
#include "stages/flow/flow.hpp"
#include "stages/flow/flow_launch.hpp"

namespace echoform {
namespace {

/// The threshold lives in device memory, so that a new one can replace it between frames although the frames' launches are
/// captured.
class FlowCuda final : public Stage {
 public:
  FlowCuda(const FlowOptions& options, Backend& backend) : options_(options), backend_(backend) { check_flow(options_); }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("flow");
    const BlockSpec output = flow_output(input);
    numbers_ = backend_.allocate(flow_device_floats * sizeof(float), MemoryUse::working);
    const gpu::Stream stream = gpu::make_stream();
    put_threshold(stream.get());  // the first launch of a kernel loads the kernel, which must not happen while frames run
    ECHOFORM_CUDA(cudaStreamSynchronize(stream.get()));
    input_lead_ = input.lead;
    work_.greatest = numbers();
    work_.threshold = numbers() + flow_parts;
    work_.kind = options_.kind;
    work_.scale = flow_scale(options_);
    work_.in_stride = stride_of(input);
    work_.lines = output.rows;
    work_.ranges = output.columns;
    return output;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    FlowWork work = work_;
    work.in = input.as<float>() + input_lead_;
    work.out = output.as<float>();
    launch_flow(work, gpu::stream_of(queue));
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return numbers_.size(); }

  [[nodiscard]] bool accepts(const StageOptions& options) const override { return accepts_flow(options, options_); }
  void retune(const StageOptions& options, ExecutionQueue& queue) noexcept override {
    options_ = *options.get<FlowOptions>();
    put_threshold(gpu::stream_of(queue));
  }

 private:
  [[nodiscard]] float* numbers() const noexcept { return static_cast<float*>(numbers_.data()); }

  void put_threshold(cudaStream_t stream) const noexcept {
    std::array<float, flow_threshold_pieces> pieces{};
    double left = options_.threshold;
    for (float& piece : pieces) {
      piece = static_cast<float>(left);
      left -= static_cast<double>(piece);
    }
    gpu::queue_values(pieces, numbers() + flow_parts, stream);
  }

  FlowOptions options_;
  Backend& backend_;
  std::size_t input_lead_ = 0;
  FlowWork work_;   // complete except for what changes with each frame
  Buffer numbers_;  // greatest powers, then the threshold
};

}  // namespace

std::unique_ptr<Stage> make_flow_cuda(const FlowOptions& options, Backend& backend) {
  return std::make_unique<FlowCuda>(options, backend);
}

}  // namespace echoform
