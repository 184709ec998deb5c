#include "gpu/memory.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <string>

#include "base/errors.hpp"
#include "gpu/memory_calls.hpp"

namespace echoform::gpu {
namespace {

double megabytes(std::size_t bytes) {
  return 1e-6 * static_cast<double>(bytes);
}

/// Memory that is still available on the host, in bytes; 0 if unknown.
std::size_t available_host_memory() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  std::size_t kibibytes = 0;
  std::string unit;
  while (file >> key >> kibibytes) {
    std::getline(file, unit);
    if (key == "MemAvailable:") return kibibytes * 1024;
  }
  return 0;
}

[[noreturn]] void refuse_device(std::size_t bytes, cudaError_t error) {
  int device = 0;
  static_cast<void>(cudaGetDevice(&device));
  std::size_t free = 0;
  std::size_t total = 0;
  static_cast<void>(memory_calls().device_info(&free, &total));
  static_cast<void>(cudaGetLastError());
  throw RuntimeFault(fmt::format("GPU {}: no device memory ({}): {:.1f} MB wanted, {:.1f} of {:.1f} MB free", device,
                                 cudaGetErrorString(error), megabytes(bytes), megabytes(free), megabytes(total)));
}

[[noreturn]] void refuse_pinned(std::size_t bytes, cudaError_t error) {
  static_cast<void>(cudaGetLastError());
  throw RuntimeFault(fmt::format("no pinned memory ({}): {:.1f} MB wanted, {:.1f} MB of the host's memory available",
                                 cudaGetErrorString(error), megabytes(bytes), megabytes(available_host_memory())));
}

void report_fallback(cudaError_t error) {
  static std::atomic<bool> reported{false};
  if (reported.exchange(true)) return;
  spdlog::warn("the driver refuses write-combined pinned memory ({}): plain pinned memory takes its place",
               cudaGetErrorString(error));
}

}  // namespace

MemoryCalls& memory_calls() {
  static MemoryCalls calls;
  return calls;
}

Buffer allocate_device(std::size_t bytes) {
  const std::size_t size = std::max<std::size_t>(bytes, 1);
  void* data = nullptr;
  if (const cudaError_t error = memory_calls().device_alloc(&data, size); error != cudaSuccess) refuse_device(bytes, error);
  Buffer buffer(data, bytes, [release = memory_calls().device_free](void* memory) { static_cast<void>(release(memory)); });
  // The memory is cleared on a stream of its own, and this function waits for it: the streams of the engines do not wait for
  // others.
  const Stream stream = make_stream();
  ECHOFORM_CUDA(cudaMemsetAsync(data, 0, size, stream.get()));
  ECHOFORM_CUDA(cudaStreamSynchronize(stream.get()));
  return buffer;
}

Buffer allocate_pinned(std::size_t bytes, Pinned kind) {
  const MemoryCalls& calls = memory_calls();
  const std::size_t size = std::max<std::size_t>(bytes, 1);
  void* data = nullptr;
  cudaError_t refusal = cudaSuccess;
  if (kind == Pinned::write_combined) {
    refusal = calls.host_alloc(&data, size, cudaHostAllocWriteCombined);
    if (refusal != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      data = nullptr;
    }
  }
  if (data == nullptr) {
    if (const cudaError_t error = calls.host_alloc(&data, size, cudaHostAllocDefault); error != cudaSuccess) {
      refuse_pinned(bytes, error);
    }
    // The fallback is reported only now: if there is no pinned memory of either kind, that is reported instead, in one line.
    if (refusal != cudaSuccess) report_fallback(refusal);
  }
  std::memset(data, 0, size);
  return {data, bytes, [release = calls.host_free](void* memory) { static_cast<void>(release(memory)); }};
}

}  // namespace echoform::gpu
