// The device that CUDA's calls of this thread go to. For *.cu and *_cuda.cpp files.
#pragma once

#include <cuda_runtime_api.h>

namespace echoform::gpu {

/// Makes `device` the thread's current device, and starts it if it has not been started. The destructor makes the previous
/// device current again.
class DeviceScope {
 public:
  explicit DeviceScope(int device) noexcept {
    static_cast<void>(cudaGetDevice(&before_));
    error_ = cudaSetDevice(device);
  }
  ~DeviceScope() { static_cast<void>(cudaSetDevice(before_)); }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  /// The result of that.
  [[nodiscard]] cudaError_t error() const noexcept { return error_; }

 private:
  int before_ = 0;
  cudaError_t error_ = cudaSuccess;
};

}  // namespace echoform::gpu
