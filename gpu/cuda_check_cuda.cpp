#include "gpu/cuda_check.hpp"

#include <fmt/format.h>

#include <cstring>
#include <string>

#include "base/errors.hpp"

namespace echoform::gpu {
namespace {

std::string line_of(cudaError_t error, const char* call, const char* file, int line) {
  return fmt::format("{}: {} ({})", place_of(call, file, line), cudaGetErrorString(error), cudaGetErrorName(error));
}

}  // namespace

bool sticky(cudaError_t error) noexcept {
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContextIsDestroyed:
      return true;
    default:
      return false;
  }
}

std::string place_of(const char* call, const char* file, int line) {
  const char* room = std::strrchr(file, '/');
  while (room != nullptr && room > file && room[-1] != '/') --room;
  return fmt::format("{}:{}: {}", room == nullptr ? file : room, line, call);
}

void throw_error(cudaError_t error, const char* call, const char* file, int line) {
  if (sticky(error)) end_after(error, call, file, line);
  // The runtime keeps an error until it is read, so this one is read before the next check finds it.
  static_cast<void>(cudaGetLastError());
  throw RuntimeFault("GPU: " + line_of(error, call, file, line));
}

void end_after(cudaError_t error, const char* call, const char* file, int line) noexcept {
  end_process(line_of(error, call, file, line));
}

}  // namespace echoform::gpu
