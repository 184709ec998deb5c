// Reports too little device memory before the first allocation fails. Free of CUDA's headers.
#pragma once

#include <cstddef>
#include <string_view>

namespace echoform {

struct DeviceMemory {
  std::size_t free = 0;   ///< bytes
  std::size_t total = 0;  ///< bytes
};

/// The present memory of CUDA device `device`. Throws RuntimeFault if the device is not available, and always in a build
/// without CUDA code.
[[nodiscard]] DeviceMemory device_memory(int device);

/// Throws RuntimeFault unless `device` has `bytes_needed` free: "GPU 0: too little device memory: needs 12.30 GB, 8.10 GB free;
/// would fit: WHAT_WOULD_FIT". `what_would_fit` is advice in words ("404 x 404 pixels, or 2 slots"); empty leaves it out.
void require_device_memory(int device, std::size_t bytes_needed, std::string_view what_would_fit);

/// The same with the memory stated: what require_device_memory() compares.
void require_memory(const DeviceMemory& memory, int device, std::size_t bytes_needed, std::string_view what_would_fit);

}  // namespace echoform
