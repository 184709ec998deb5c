#include "gpu/cuda_backend.hpp"

#include "base/errors.hpp"
#include "gpu/memory.hpp"
#include "gpu/stream_queue.hpp"

namespace echoform {
namespace {

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(int device) : device_(device) {
    if (const std::string reason = why_no_cuda(device); !reason.empty()) throw RuntimeFault("backend cuda: " + reason);
    use_device();
  }

  [[nodiscard]] BackendKind kind() const noexcept override { return BackendKind::cuda; }

  [[nodiscard]] Buffer allocate(std::size_t bytes, MemoryUse use) override {
    use_device();
    switch (use) {
      case MemoryUse::working:
        return gpu::allocate_device(bytes);
      case MemoryUse::staging:
        return gpu::allocate_pinned(bytes, gpu::Pinned::write_combined);
      case MemoryUse::readback:
        break;
    }
    return gpu::allocate_pinned(bytes, gpu::Pinned::readable);
  }

  [[nodiscard]] std::unique_ptr<ExecutionQueue> make_queue() override {
    use_device();
    return std::make_unique<gpu::StreamQueue>();
  }

 private:
  void use_device() const { ECHOFORM_CUDA(cudaSetDevice(device_)); }

  int device_;
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(int device) {
  return std::make_unique<CudaBackend>(device);
}

void copy_now(void* to, const void* from, std::size_t bytes) {
  const gpu::Stream stream = gpu::make_stream();
  ECHOFORM_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream.get()));
  ECHOFORM_CUDA(cudaStreamSynchronize(stream.get()));
}

}  // namespace echoform
