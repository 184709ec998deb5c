// Tables in device memory. For *_cuda.cpp files.
#pragma once

#include <vector>

#include "gpu/cuda_backend.hpp"

namespace echoform::gpu {

/// Memory of `backend`, a CUDA backend, with these numbers, which are there when it returns. At set-up. Throws RuntimeFault.
template <class T>
[[nodiscard]] Buffer on_device(const std::vector<T>& numbers, Backend& backend) {
  Buffer buffer = backend.allocate(numbers.size() * sizeof(T), MemoryUse::working);
  if (!numbers.empty()) copy_now(buffer.data(), numbers.data(), buffer.size());
  return buffer;
}

}  // namespace echoform::gpu
