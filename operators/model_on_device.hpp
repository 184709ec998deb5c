// What models on a GPU share. For *_cuda.cpp files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "gpu/cuda_backend.hpp"
#include "gpu/device_scope.hpp"
#include "gpu/stream.hpp"

namespace echoform::gpu {

/// Detectors go by passes: enough to keep a device busy.
inline constexpr std::size_t detectors_of_pass = 1024;
/// Share of the device's free memory that a model may take.
inline constexpr double share_of_free_memory = 0.9;

template <class T>
[[nodiscard]] T* values_of(const Buffer& buffer) {
  return static_cast<T*>(buffer.data());
}

[[nodiscard]] inline std::int32_t to_whole(std::size_t value) {
  return static_cast<std::int32_t>(value);
}

/// A device, and a stream of it that is current work's.
class ModelDevice {
 public:
  /// Throws RuntimeFault if the device is not to be had.
  explicit ModelDevice(int device) : backend_(make_cuda_backend(device)), device_(device) {
    const DeviceScope scope(device);
    ECHOFORM_CUDA(scope.error());
    stream_ = make_stream();
  }

  [[nodiscard]] int number() const { return device_; }
  [[nodiscard]] Backend& backend() const { return *backend_; }
  [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }
  [[nodiscard]] Buffer allocate(std::size_t bytes) const { return backend_->allocate(bytes, MemoryUse::working); }
  /// Copies between host and device, in the direction that the addresses determine, after what is queued.
  void copy(void* to, const void* from, std::size_t bytes) const {
    ECHOFORM_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream()));
  }
  void clear(const Buffer& buffer, std::size_t bytes) const { ECHOFORM_CUDA(cudaMemsetAsync(buffer.data(), 0, bytes, stream())); }
  void finish() const { ECHOFORM_CUDA(cudaStreamSynchronize(stream())); }

 private:
  std::unique_ptr<Backend> backend_;
  int device_;
  Stream stream_;
};

}  // namespace echoform::gpu
