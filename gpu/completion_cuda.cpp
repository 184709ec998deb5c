#include "gpu/completion.hpp"

#include <fmt/format.h>

#include "gpu/cuda_check.hpp"

namespace echoform::gpu {
namespace {

class CudaEventQuery final : public EventQuery {
 public:
  explicit CudaEventQuery(int device) : device_(device) {}

  void begin() noexcept override {
    ECHOFORM_CUDA_QUEUED(cudaSetDevice(device_));
    // Queries from this thread must not break a graph that another thread is capturing.
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    ECHOFORM_CUDA_QUEUED(cudaThreadExchangeStreamCaptureMode(&mode));
  }

  [[nodiscard]] bool reached(void* event, const char* stage) noexcept override {
    const cudaError_t answer = cudaEventQuery(static_cast<cudaEvent_t>(event));
    if (answer == cudaSuccess) return true;
    if (answer == cudaErrorNotReady) return false;
    end_process(fmt::format("stage {}: {} ({})", stage, cudaGetErrorString(answer), cudaGetErrorName(answer)));
  }

 private:
  int device_;
};

}  // namespace

std::unique_ptr<CompletionThread> make_completion_thread(int device, std::chrono::nanoseconds timeout, std::size_t capacity) {
  return std::make_unique<CompletionThread>(std::make_unique<CudaEventQuery>(device), timeout, capacity);
}

}  // namespace echoform::gpu
