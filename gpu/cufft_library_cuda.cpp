#include "gpu/cufft_library.hpp"

#include <fmt/format.h>

#include "base/errors.hpp"
#include "gpu/cuda_check.hpp"
#include "gpu/device_probe.hpp"
#include "gpu/fault.hpp"
#include "gpu/loaded_library.hpp"

namespace echoform {
namespace gpu {
namespace {

#define ECHOFORM_TEXT_OF(value) #value
#define ECHOFORM_CUFFT_FILE(major) "libcufft.so." ECHOFORM_TEXT_OF(major)
/// The library's interface is fixed within a major version. The version is that of the header used here.
constexpr const char* file_name = ECHOFORM_CUFFT_FILE(CUFFT_VER_MAJOR);

CufftLibrary load() {
  const LoadedLibrary library("cuFFT", file_name);
  CufftLibrary functions{};
  library.find("cufftCreate", functions.create);
  library.find("cufftDestroy", functions.destroy);
  library.find("cufftMakePlanMany", functions.make_plan_many);
  library.find("cufftSetAutoAllocation", functions.set_auto_allocation);
  library.find("cufftSetWorkArea", functions.set_work_area);
  library.find("cufftGetSizeMany", functions.get_size_many);
  library.find("cufftGetSize", functions.get_size);
  library.find("cufftSetStream", functions.set_stream);
  library.find("cufftExecC2C", functions.exec_c2c);
  library.find("cufftExecR2C", functions.exec_r2c);
  library.find("cufftExecC2R", functions.exec_c2r);
  library.find("cufftGetVersion", functions.get_version);
  return functions;
}

const char* text_of(cufftResult error) {
  switch (error) {
    case CUFFT_SUCCESS:
      return "success";
    case CUFFT_INVALID_PLAN:
      return "invalid plan";
    case CUFFT_ALLOC_FAILED:
      return "no memory";
    case CUFFT_INVALID_TYPE:
      return "invalid type";
    case CUFFT_INVALID_VALUE:
      return "invalid value";
    case CUFFT_INTERNAL_ERROR:
      return "internal error";
    case CUFFT_EXEC_FAILED:
      return "execution failed";
    case CUFFT_SETUP_FAILED:
      return "set-up failed";
    case CUFFT_INVALID_SIZE:
      return "invalid size";
    case CUFFT_UNALIGNED_DATA:
      return "unaligned data";
    case CUFFT_INVALID_DEVICE:
      return "invalid device";
    case CUFFT_NO_WORKSPACE:
      return "no work area";
    case CUFFT_NOT_IMPLEMENTED:
      return "not implemented";
    case CUFFT_NOT_SUPPORTED:
      return "not supported";
    case CUFFT_MISSING_DEPENDENCY:
      return "a library that it needs is missing";
    default:
      return "unknown error";
  }
}

std::string line_of(cufftResult error, const char* call, const char* file, int line) {
  return fmt::format("{}: {} (cuFFT error {})", place_of(call, file, line), text_of(error), static_cast<int>(error));
}

}  // namespace

const CufftLibrary& cufft_library() {
  // A failure is not kept: the next call tries again.
  static const CufftLibrary library = load();
  return library;
}

std::string why_no_cufft() {
  try {
    static_cast<void>(cufft_library());
    return {};
  } catch (const RuntimeFault& fault) {
    return fault.what();
  }
}

}  // namespace gpu

std::string cufft_status() {
  if (std::string reason = gpu::why_no_cufft(); !reason.empty()) return reason;
  int version = 0;
  if (gpu::cufft_library().get_version(&version) != CUFFT_SUCCESS) return "without an answer about its version";
  return fmt::format("{}.{}.{}", version / 1000, version % 1000 / 100, version % 100);
}

namespace gpu {

FftPlan::FftPlan() {
  ECHOFORM_CUFFT(cufft_library().create(&handle_));
}

FftPlan::~FftPlan() {
  static_cast<void>(cufft_library().destroy(handle_));
}

void throw_error(cufftResult error, const char* call, const char* file, int line) {
  throw RuntimeFault("GPU: " + line_of(error, call, file, line));
}

void end_after(cufftResult error, const char* call, const char* file, int line) noexcept {
  end_process(line_of(error, call, file, line));
}

}  // namespace gpu
}  // namespace echoform
