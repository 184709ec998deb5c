// The device that CUDA's calls of this thread go to. For *.cu and *_cuda.cpp files.
#pragma once

#include <cuda_runtime_api.h>

namespace echoform::gpu {

/// Makes `device` the thread's current device, starting it where it has not been, and the one before current again at its end.
class DeviceScope {
 public:
  explicit DeviceScope(int device) noexcept {
    static_cast<void>(cudaGetDevice(&before_));
    error_ = cudaSetDevice(device);
  }
  ~DeviceScope() { static_cast<void>(cudaSetDevice(before_)); }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  /// What came of it.
  [[nodiscard]] cudaError_t error() const noexcept { return error_; }

 private:
  int before_ = 0;
  cudaError_t error_ = cudaSuccess;
};

}  // namespace echoform::gpu
