#include "gpu/bandwidth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "gpu/device_scope.hpp"
#include "gpu/memory_calls.hpp"
#include "gpu/stream.hpp"

namespace echoform {
namespace {

constexpr std::size_t host_bytes = std::size_t{32} << 20;
// The size is well above what the second-level cache holds.
constexpr std::size_t device_bytes = std::size_t{256} << 20;
constexpr int copies = 5;

using DeviceMemoryOwner = gpu::Owner<void*, cudaFree>;
using PinnedMemoryOwner = gpu::Owner<void*, cudaFreeHost>;

class Measurement {
 public:
  Measurement() : stream_(gpu::make_stream()), begin_(gpu::make_event(true)), end_(gpu::make_event(true)) {}

  /// Bytes per second of the fastest copy. Throws RuntimeFault.
  double best(void* to, const void* from, std::size_t bytes) {
    float least = 0.0F;
    for (int k = 0; k < copies; ++k) {
      ECHOFORM_CUDA(cudaEventRecord(begin_.get(), stream_.get()));
      ECHOFORM_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_.get()));
      ECHOFORM_CUDA(cudaEventRecord(end_.get(), stream_.get()));
      ECHOFORM_CUDA(cudaStreamSynchronize(stream_.get()));
      float milliseconds = 0.0F;
      ECHOFORM_CUDA(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()));
      least = k == 0 ? milliseconds : std::min(least, milliseconds);
    }
    return least > 0.0F ? 1e3 * static_cast<double>(bytes) / static_cast<double>(least) : 0.0;
  }

 private:
  gpu::Stream stream_;
  gpu::Event begin_;
  gpu::Event end_;
};

PinnedMemoryOwner pinned(std::size_t bytes, unsigned int flags) {
  void* data = nullptr;
  if (gpu::memory_calls().host_alloc(&data, bytes, flags) == cudaSuccess) return PinnedMemoryOwner(data);
  static_cast<void>(cudaGetLastError());
  return {};
}

DeviceMemoryOwner on_device(std::size_t bytes) {
  void* data = nullptr;
  if (gpu::memory_calls().device_alloc(&data, bytes) == cudaSuccess) return DeviceMemoryOwner(data);
  static_cast<void>(cudaGetLastError());
  return {};
}

void measure(DeviceBandwidth& found) {
  const DeviceMemoryOwner near = on_device(device_bytes);
  const DeviceMemoryOwner far = on_device(device_bytes);
  Measurement measurement;
  if (near && far) {
    found.device_to_device = 2.0 * measurement.best(far.get(), near.get(), device_bytes);
  } else {
    found.problem = "too little device memory is free";
  }
  if (!near) return;
  found.bytes = host_bytes;
  if (const PinnedMemoryOwner combined = pinned(host_bytes, cudaHostAllocWriteCombined)) {
    found.write_combined = true;
    found.from_write_combined = measurement.best(near.get(), combined.get(), host_bytes);
  }
  if (const PinnedMemoryOwner plain = pinned(host_bytes, cudaHostAllocDefault)) {
    found.host_to_device = measurement.best(near.get(), plain.get(), host_bytes);
    found.device_to_host = measurement.best(plain.get(), near.get(), host_bytes);
  } else {
    found.problem = "pinned memory is refused";
  }
}

}  // namespace

DeviceBandwidth measure_bandwidth(int device) noexcept {
  DeviceBandwidth found;
  try {
    const gpu::DeviceScope scope(device);
    ECHOFORM_CUDA(scope.error());
    measure(found);
  } catch (const std::exception& error) {
    found.problem = error.what();
  }
  return found;
}

}  // namespace echoform
