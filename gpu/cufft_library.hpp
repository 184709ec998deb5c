// cuFFT, loaded when it is first wanted: the program starts on machines that have neither the library nor a GPU.
// For *.cu and *_cuda.cpp files. Nothing links CUDA::cufft.
//
//   const gpu::CufftLibrary& cufft = gpu::cufft_library();          at set-up: RuntimeFault where the library is missing
//   gpu::FftPlan plan;                                              a handle, given back by its destructor
//   ECHOFORM_CUFFT(cufft.make_plan_many(plan.get(), ...));          at set-up: throws RuntimeFault with file, call and reason
//   ECHOFORM_CUFFT_QUEUED(cufft.exec_c2c(plan.get(), ...));         while frames run, in noexcept code: ends the process
#pragma once

#include <cufft.h>

#include <string>

namespace echoform::gpu {

/// The functions of cuFFT that the stages call, under their own names without "cufft".
struct CufftLibrary {
  decltype(&::cufftCreate) create;
  decltype(&::cufftDestroy) destroy;
  decltype(&::cufftMakePlanMany) make_plan_many;
  decltype(&::cufftSetAutoAllocation) set_auto_allocation;
  decltype(&::cufftSetWorkArea) set_work_area;
  decltype(&::cufftGetSizeMany) get_size_many;
  decltype(&::cufftGetSize) get_size;
  decltype(&::cufftSetStream) set_stream;
  decltype(&::cufftExecC2C) exec_c2c;
  decltype(&::cufftExecR2C) exec_r2c;
  decltype(&::cufftExecC2R) exec_c2r;
  decltype(&::cufftGetVersion) get_version;
};

/// Loads the library with the first call, from where the loader finds it (LD_LIBRARY_PATH, ldconfig) or from
/// /usr/local/cuda; it stays loaded. Throws RuntimeFault "cuFFT (libcufft.so.12) was not found: ..." if it is not available.
/// Any thread may call it.
[[nodiscard]] const CufftLibrary& cufft_library();

/// Why cuFFT is not available, in one line for the user; empty if it is.
[[nodiscard]] std::string why_no_cufft();

/// A plan's handle; the plan itself is made with make_plan_many().
class FftPlan {
 public:
  FftPlan();
  ~FftPlan();
  FftPlan(const FftPlan&) = delete;
  FftPlan& operator=(const FftPlan&) = delete;
  [[nodiscard]] cufftHandle get() const { return handle_; }

 private:
  cufftHandle handle_ = 0;
};

[[noreturn]] void throw_error(cufftResult error, const char* call, const char* file, int line);
[[noreturn]] void end_after(cufftResult error, const char* call, const char* file, int line) noexcept;

}  // namespace echoform::gpu

#define ECHOFORM_CUFFT(call)                                                          \
  do {                                                                                \
    if (const cufftResult echoform_error = (call); echoform_error != CUFFT_SUCCESS) { \
      ::echoform::gpu::throw_error(echoform_error, #call, __FILE__, __LINE__);        \
    }                                                                                 \
  } while (false)

#define ECHOFORM_CUFFT_QUEUED(call)                                                   \
  do {                                                                                \
    if (const cufftResult echoform_error = (call); echoform_error != CUFFT_SUCCESS) { \
      ::echoform::gpu::end_after(echoform_error, #call, __FILE__, __LINE__);          \
    }                                                                                 \
  } while (false)
