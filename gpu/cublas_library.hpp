// cuBLAS, loaded when it is first wanted, as cuFFT is (gpu/cufft_library.hpp). For *.cu and *_cuda.cpp files. Nothing links
// CUDA::cublas.
//
//   const gpu::CublasLibrary& cublas = gpu::cublas_library();       at set-up: RuntimeFault where the library is missing
//   gpu::CublasHandle handle;                                       of the current device, given back by its destructor
//   ECHOFORM_CUBLAS(cublas.set_stream(handle.get(), stream));       at set-up: throws RuntimeFault with file, call and reason
//   ECHOFORM_CUBLAS_QUEUED(cublas.gemm(handle.get(), ...));         while frames run, in noexcept code: ends the process
#pragma once

#include <cublas_v2.h>

#include <string>

namespace echoform::gpu {

/// The functions of cuBLAS that the stages call.
struct CublasLibrary {
  decltype(&::cublasCreate_v2) create;
  decltype(&::cublasDestroy_v2) destroy;
  decltype(&::cublasSetStream_v2) set_stream;
  decltype(&::cublasSetWorkspace_v2) set_workspace;
  decltype(&::cublasGemmEx_64) gemm;
  /// The same of several matrices at equal distances.
  decltype(&::cublasGemmStridedBatchedEx_64) gemm_batch;
  decltype(&::cublasGetProperty) get_property;
};

/// Loads the library with the first call; throws RuntimeFault "cuBLAS (libcublas.so.13) was not found: ..." if it is not
/// available. Any thread may call it.
[[nodiscard]] const CublasLibrary& cublas_library();

/// Why cuBLAS is not available, in one line for the user; empty if it is.
[[nodiscard]] std::string why_no_cublas();

class CublasHandle {
 public:
  CublasHandle();
  ~CublasHandle();
  CublasHandle(const CublasHandle&) = delete;
  CublasHandle& operator=(const CublasHandle&) = delete;
  [[nodiscard]] cublasHandle_t get() const { return handle_; }

 private:
  cublasHandle_t handle_ = nullptr;
};

[[noreturn]] void throw_error(cublasStatus_t error, const char* call, const char* file, int line);
[[noreturn]] void end_after(cublasStatus_t error, const char* call, const char* file, int line) noexcept;

}  // namespace echoform::gpu

#define ECHOFORM_CUBLAS(call)                                                                    \
  do {                                                                                           \
    if (const cublasStatus_t echoform_error = (call); echoform_error != CUBLAS_STATUS_SUCCESS) { \
      ::echoform::gpu::throw_error(echoform_error, #call, __FILE__, __LINE__);                   \
    }                                                                                            \
  } while (false)

#define ECHOFORM_CUBLAS_QUEUED(call)                                                             \
  do {                                                                                           \
    if (const cublasStatus_t echoform_error = (call); echoform_error != CUBLAS_STATUS_SUCCESS) { \
      ::echoform::gpu::end_after(echoform_error, #call, __FILE__, __LINE__);                     \
    }                                                                                            \
  } while (false)
