#include <cstdint>

#include "gpu/cuda_backend.hpp"
#include "gpu/queued_values.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/block_checks.hpp"
#include "stages/scroll/scroll.hpp"
#include "stages/scroll/scroll_launch.hpp"

namespace echoform {
namespace {

static_assert(sizeof(float) + sizeof(std::uint32_t) == scroll_number_bytes);

/// The ring, its head and the first row live in device memory, so that frames queue up behind each other without the host.
class ScrollCuda final : public Stage {
 public:
  ScrollCuda(const ScrollOptions& options, Backend& backend) : options_(options), backend_(backend) {}

  [[nodiscard]] BlockSpec prepare(const InputSpecs& inputs) override {
    input_ = inputs.only("scroll");
    const BlockSpec output = scroll_output(options_, input_);
    ring_ = backend_.allocate(output.bytes(), MemoryUse::working);
    numbers_ = backend_.allocate(scroll_number_bytes, MemoryUse::working);
    work_.ring = static_cast<float*>(ring_.data());
    work_.first = static_cast<const float*>(numbers_.data());
    work_.head = reinterpret_cast<std::uint32_t*>(static_cast<float*>(numbers_.data()) + 1);
    work_.in_stride = stride_of(input_);
    work_.columns = output.columns;
    work_.count = options_.count;
    work_.kept = options_.kept;
    const gpu::Stream stream = gpu::make_stream();
    forget(stream.get());
    put_first(stream.get());  // the first launch of a kernel loads the kernel, which must not happen while frames run
    ECHOFORM_CUDA(cudaStreamSynchronize(stream.get()));
    return output;
  }

  void process(const InputBlocks& input, Block output, ExecutionQueue& queue) noexcept override {
    ScrollWork work = work_;
    work.in = input.as<float>() + input_.lead;
    work.out = output.as<float>();
    launch_scroll(work, gpu::stream_of(queue));
  }

  [[nodiscard]] std::size_t bytes() const noexcept override { return ring_.size() + numbers_.size(); }

  void restart(ExecutionQueue& queue) noexcept override { forget(gpu::stream_of(queue)); }

  [[nodiscard]] bool accepts(const StageOptions& options) const override { return accepts_scroll(options, options_, input_); }
  void retune(const StageOptions& options, ExecutionQueue& queue) noexcept override {
    options_ = *options.get<ScrollOptions>();
    put_first(gpu::stream_of(queue));
  }

 private:
  void forget(cudaStream_t stream) const noexcept {
    ECHOFORM_CUDA_QUEUED(cudaMemsetAsync(ring_.data(), 0, ring_.size(), stream));
    ECHOFORM_CUDA_QUEUED(cudaMemsetAsync(work_.head, 0, sizeof(std::uint32_t), stream));
  }
  void put_first(cudaStream_t stream) const noexcept {
    const auto value = static_cast<float>(options_.first);
    gpu::queue_values({&value, 1}, static_cast<float*>(numbers_.data()), stream);
  }

  ScrollOptions options_;
  Backend& backend_;
  BlockSpec input_;
  ScrollWork work_;  // complete except for what changes with each frame
  Buffer ring_;
  Buffer numbers_;  // the first row, then the head
};

}  // namespace

std::unique_ptr<Stage> make_scroll_cuda(const ScrollOptions& options, Backend& backend) {
  return std::make_unique<ScrollCuda>(options, backend);
}

}  // namespace echoform
