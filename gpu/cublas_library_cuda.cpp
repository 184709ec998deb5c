#include "gpu/cublas_library.hpp"

#include <fmt/format.h>

#include "base/errors.hpp"
#include "gpu/cuda_check.hpp"
#include "gpu/device_probe.hpp"
#include "gpu/fault.hpp"
#include "gpu/loaded_library.hpp"

namespace echoform {
namespace gpu {
namespace {

#define ECHOFORM_CUBLAS_TEXT(value) #value
#define ECHOFORM_CUBLAS_FILE(major) "libcublas.so." ECHOFORM_CUBLAS_TEXT(major)

CublasLibrary load_cublas() {
  // The library's interface is fixed within a major version. The version is that of the header used here.
  const LoadedLibrary library("cuBLAS", ECHOFORM_CUBLAS_FILE(CUBLAS_VER_MAJOR));
  CublasLibrary functions{};
  library.find("cublasCreate_v2", functions.create);
  library.find("cublasDestroy_v2", functions.destroy);
  library.find("cublasSetStream_v2", functions.set_stream);
  library.find("cublasSetWorkspace_v2", functions.set_workspace);
  library.find("cublasGemmEx_64", functions.gemm);
  library.find("cublasGemmStridedBatchedEx_64", functions.gemm_batch);
  library.find("cublasGetProperty", functions.get_property);
  return functions;
}

const char* words_of(cublasStatus_t error) {
  switch (error) {
    case CUBLAS_STATUS_SUCCESS:
      return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "not initialised";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "no memory";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "invalid value";
    case CUBLAS_STATUS_ARCH_MISMATCH:
      return "not on this device";
    case CUBLAS_STATUS_MAPPING_ERROR:
      return "memory not mapped";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "execution failed";
    case CUBLAS_STATUS_INTERNAL_ERROR:
      return "internal error";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "not supported";
    default:
      return "unknown error";
  }
}

std::string line_of(cublasStatus_t error, const char* call, const char* file, int line) {
  return fmt::format("{}: {} (cuBLAS error {})", place_of(call, file, line), words_of(error), static_cast<int>(error));
}

}  // namespace

const CublasLibrary& cublas_library() {
  // A failure is not kept: the next call tries again.
  static const CublasLibrary library = load_cublas();
  return library;
}

std::string why_no_cublas() {
  try {
    static_cast<void>(cublas_library());
    return {};
  } catch (const RuntimeFault& fault) {
    return fault.what();
  }
}

CublasHandle::CublasHandle() {
  ECHOFORM_CUBLAS(cublas_library().create(&handle_));
}

CublasHandle::~CublasHandle() {
  static_cast<void>(cublas_library().destroy(handle_));
}

void throw_error(cublasStatus_t error, const char* call, const char* file, int line) {
  throw RuntimeFault("GPU: " + line_of(error, call, file, line));
}

void end_after(cublasStatus_t error, const char* call, const char* file, int line) noexcept {
  end_process(line_of(error, call, file, line));
}

}  // namespace gpu

std::string cublas_status() {
  if (std::string reason = gpu::why_no_cublas(); !reason.empty()) return reason;
  int version[3] = {};
  for (const libraryPropertyType part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
    if (gpu::cublas_library().get_property(part, &version[part]) != CUBLAS_STATUS_SUCCESS) {
      return "without an answer about its version";
    }
  }
  return fmt::format("{}.{}.{}", version[0], version[1], version[2]);
}

}  // namespace echoform
