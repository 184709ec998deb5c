// Handling of CUDA calls that fail. For *.cu and *_cuda.cpp files.
//
//   ECHOFORM_CUDA(cudaMalloc(&data, bytes));         at set-up: throws RuntimeFault with file, call and CUDA's text; ends the
//                                                    process if the error is a sticky one
//   ECHOFORM_CUDA_QUEUED(cudaMemcpyAsync(...));      while frames run, in noexcept code: ends the process, see fault()
//   ECHOFORM_CUDA_LAUNCHED("beamform");              after kernel<<<>>>: as above, for the launch
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "gpu/fault.hpp"

namespace echoform::gpu {

/// "gpu/memory.cu:31: cudaMalloc(&data, bytes)", from the repository's root on, whatever folder it was built in.
[[nodiscard]] std::string place_of(const char* call, const char* file, int line);

/// Whether `error` is sticky, so that no CUDA call succeeds any more in this process: a kernel faulted, or memory failed.
[[nodiscard]] bool sticky(cudaError_t error) noexcept;

/// "gpu/memory_cuda.cpp:31: cudaMalloc(&data, bytes): out of memory (cudaErrorMemoryAllocation)"
[[noreturn]] void throw_error(cudaError_t error, const char* call, const char* file, int line);
[[noreturn]] void end_after(cudaError_t error, const char* call, const char* file, int line) noexcept;

}  // namespace echoform::gpu

#define ECHOFORM_CUDA(call)                                                         \
  do {                                                                              \
    if (const cudaError_t echoform_error = (call); echoform_error != cudaSuccess) { \
      ::echoform::gpu::throw_error(echoform_error, #call, __FILE__, __LINE__);      \
    }                                                                               \
  } while (false)

#define ECHOFORM_CUDA_QUEUED(call)                                                  \
  do {                                                                              \
    if (const cudaError_t echoform_error = (call); echoform_error != cudaSuccess) { \
      ::echoform::gpu::end_after(echoform_error, #call, __FILE__, __LINE__);        \
    }                                                                               \
  } while (false)

#define ECHOFORM_CUDA_LAUNCHED(kernel)                                                             \
  do {                                                                                             \
    if (const cudaError_t echoform_error = cudaPeekAtLastError(); echoform_error != cudaSuccess) { \
      ::echoform::gpu::end_after(echoform_error, "launch of " kernel, __FILE__, __LINE__);         \
    }                                                                                              \
  } while (false)
