#include "gpu/cuda_backend.hpp"

#include <fmt/format.h>

#include <cstring>

#include "gpu/device_probe.hpp"
#include "gpu/stream_queue.hpp"
#include "pipeline/errors.hpp"

namespace echoform {
namespace {

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(int device) : device_(device) { ECHOFORM_CUDA(cudaSetDevice(device)); }

  [[nodiscard]] BackendKind kind() const noexcept override { return BackendKind::cuda; }

  [[nodiscard]] Buffer allocate(std::size_t bytes, MemoryUse use) override {
    ECHOFORM_CUDA(cudaSetDevice(device_));
    const std::size_t wanted = bytes == 0 ? 1 : bytes;
    void* data = nullptr;
    if (use == MemoryUse::working) {
      if (cudaMalloc(&data, wanted) != cudaSuccess) refuse(bytes, "device");
      ECHOFORM_CUDA(cudaMemset(data, 0, wanted));
      return {data, bytes, [](void* memory) { static_cast<void>(cudaFree(memory)); }};
    }
    if (use == MemoryUse::staging) {
      if (cudaHostAlloc(&data, wanted, cudaHostAllocWriteCombined) != cudaSuccess) {
        static_cast<void>(cudaGetLastError());
        data = nullptr;
      }
    }
    if (data == nullptr && cudaHostAlloc(&data, wanted, cudaHostAllocDefault) != cudaSuccess) refuse(bytes, "pinned host");
    std::memset(data, 0, wanted);
    return {data, bytes, [](void* memory) { static_cast<void>(cudaFreeHost(memory)); }};
  }

  [[nodiscard]] std::unique_ptr<ExecutionQueue> make_queue() override {
    ECHOFORM_CUDA(cudaSetDevice(device_));
    return std::make_unique<gpu::StreamQueue>();
  }

 private:
  [[noreturn]] static void refuse(std::size_t bytes, const char* kind) {
    static_cast<void>(cudaGetLastError());
    throw RuntimeFault(fmt::format("no {} memory: {:.1f} MB wanted", kind, 1e-6 * static_cast<double>(bytes)));
  }

  int device_;
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(int device) {
  return std::make_unique<CudaBackend>(device);
}

std::string why_no_cuda() {
  const GpuProbe probe = probe_devices();
  return probe.devices.empty() ? probe.status : std::string();
}

void copy_now(void* to, const void* from, std::size_t bytes) {
  ECHOFORM_CUDA(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
  ECHOFORM_CUDA(cudaDeviceSynchronize());
}

}  // namespace echoform
