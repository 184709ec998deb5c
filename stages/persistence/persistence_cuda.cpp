#include "gpu/cuda_backend.hpp"
#include "gpu/queued_values.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/block_checks.hpp"
#include "stages/persistence/persistence.hpp"
#include "stages/persistence/persistence_launch.hpp"

namespace echoform {
namespace {

/// The previous image and the share live in device memory. So frames queue up behind each other without the host, and a new share
/// can replace the old one between frames although the frames' launches are captured.
class PersistenceCuda final : public Stage {
 public:
  PersistenceCuda(const PersistenceOptions& options, Backend& backend) : options_(options), backend_(backend) {
    validate(options_);
  }

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    const BlockSpec& input = inputs.only("persistence");
    output_ = persistence_output(input);
    input_stride_ = stride_of(input);
    before_ = backend_.allocate(output_.bytes(), MemoryUse::working);
    share_ = backend_.allocate(sizeof(float), MemoryUse::working);
    const gpu::Stream stream = gpu::make_stream();
    forget(stream.get());
    put_share(stream.get());  // the first launch of a kernel loads the kernel, which must not happen while frames run
    ECHOFORM_CUDA(cudaStreamSynchronize(stream.get()));
    return output_;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    launch_persistence({input.as<float>(), output.as<float>(), static_cast<float*>(before_.data()), share(), input_stride_},
                       output_.rows, output_.columns, gpu::stream_of(queue));
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return before_.size() + share_.size(); }

  void restart(ExecutionQueue& queue) noexcept override { forget(gpu::stream_of(queue)); }

  [[nodiscard]] bool accepts(const StageOptions& options) const override {
    validate(options.as<PersistenceOptions>());
    return true;
  }
  void retune(const StageOptions& options, ExecutionQueue& queue) noexcept override {
    options_ = *options.get<PersistenceOptions>();
    put_share(gpu::stream_of(queue));
  }

 private:
  [[nodiscard]] float* share() const noexcept { return static_cast<float*>(share_.data()); }

  /// Sets all bits of the bytes, which makes every float a NaN.
  void forget(cudaStream_t stream) const noexcept {
    ECHOFORM_CUDA_QUEUED(cudaMemsetAsync(before_.data(), 0xFF, before_.size(), stream));
  }
  void put_share(cudaStream_t stream) const noexcept {
    const auto value = static_cast<float>(options_.share);
    gpu::queue_values({&value, 1}, share(), stream);
  }

  PersistenceOptions options_;
  Backend& backend_;
  BlockSpec output_;
  std::size_t input_stride_ = 0;
  Buffer before_;  // NaN where there has been nothing finite yet
  Buffer share_;
};

}  // namespace

std::unique_ptr<Stage> make_persistence_cuda(const PersistenceOptions& options, Backend& backend) {
  return std::make_unique<PersistenceCuda>(options, backend);
}

}  // namespace echoform
