// CUDA's memory functions as this module calls them. For *_cuda.cpp files.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace echoform::gpu {

struct MemoryCalls {
  cudaError_t (*host_alloc)(void** data, std::size_t bytes, unsigned int flags) = &cudaHostAlloc;
  cudaError_t (*host_free)(void* data) = &cudaFreeHost;
  cudaError_t (*device_alloc)(void** data, std::size_t bytes) = &cudaMalloc;
  cudaError_t (*device_free)(void* data) = &cudaFree;
  cudaError_t (*device_info)(std::size_t* free, std::size_t* total) = &cudaMemGetInfo;
};

/// The functions in use. Only tests replace them, to make allocations fail.
[[nodiscard]] MemoryCalls& memory_calls();

}  // namespace echoform::gpu
