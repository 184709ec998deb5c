#include <fmt/format.h>

#include "gpu/probe_status.hpp"

namespace echoform::gpu {

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string probe_status(cudaError_t answer, int count, int driver, int runtime) {
  switch (answer) {
    case cudaSuccess:
      break;
    case cudaErrorNoDevice:
      return "no device";
    case cudaErrorInsufficientDriver:
    case cudaErrorStubLibrary:
      if (driver == 0) return "no driver";
      return fmt::format("the driver is too old: it is for CUDA {}, and this build needs {}", version_text(driver),
                         version_text(runtime));
    default:
      return fmt::format("no answer from the driver: {} ({})", cudaGetErrorString(answer), cudaGetErrorName(answer));
  }
  if (count == 0) return "no device";
  return fmt::format("{} device{}", count, count == 1 ? "" : "s");
}

}  // namespace echoform::gpu
