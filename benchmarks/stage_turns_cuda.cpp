#include "benchmarks/stage_turns.hpp"
#include "gpu/stream_queue.hpp"

namespace echoform::benchmarks {

Turns turns_on_cuda(const Buffer& source, const Buffer& target, std::size_t frames, ExecutionQueue& queue,
                    const std::function<void()>& work) {
  const cudaStream_t stream = gpu::stream_of(queue);
  const auto copy = [&] {
    ECHOFORM_CUDA(cudaMemcpyAsync(target.data(), source.data(), source.size(), cudaMemcpyDeviceToDevice, stream));
  };
  std::vector<gpu::Event> events;
  for (std::size_t k = 0; k <= 2 * frames; ++k) events.push_back(gpu::make_event(true));
  for (int k = 0; k < 2; ++k) {
    copy();
    work();
  }
  queue.finish();
  ECHOFORM_CUDA(cudaEventRecord(events[0].get(), stream));
  for (std::size_t frame = 0; frame < frames; ++frame) {
    copy();
    ECHOFORM_CUDA(cudaEventRecord(events[2 * frame + 1].get(), stream));
    work();
    ECHOFORM_CUDA(cudaEventRecord(events[2 * frame + 2].get(), stream));
  }
  queue.finish();
  Turns turns;
  for (std::size_t k = 0; k < 2 * frames; ++k) {
    float milliseconds = 0.0F;
    ECHOFORM_CUDA(cudaEventElapsedTime(&milliseconds, events[k].get(), events[k + 1].get()));
    turns.add(k % 2 == 0 ? "copy" : "work", 1e-3 * static_cast<double>(milliseconds));
  }
  return turns;
}

}  // namespace echoform::benchmarks
