#include <fmt/format.h>

#include <map>
#include <mutex>

#include "base/errors.hpp"
#include "gpu/code_check.hpp"
#include "gpu/cuda_backend.hpp"
#include "gpu/device_probe.hpp"
#include "gpu/device_scope.hpp"
#include "gpu/memory_calls.hpp"
#include "gpu/memory_report.hpp"

namespace echoform {
namespace {

std::string text_of(cudaError_t error) {
  // The runtime keeps an error until it is read, so this one is read before other code finds it.
  static_cast<void>(cudaGetLastError());
  return fmt::format("{} ({})", cudaGetErrorString(error), cudaGetErrorName(error));
}

std::string start(int index, const GpuDevice& device) {
  const std::string name = fmt::format("GPU {} ({}, compute capability {}.{})", index, device.name, device.major, device.minor);
  const gpu::DeviceScope scope(index);
  if (scope.error() != cudaSuccess) return fmt::format("{} does not start: {}", name, text_of(scope.error()));
  const cudaError_t answer = gpu::check_code();
  if (answer == cudaSuccess) return {};
  if (answer == cudaErrorNoKernelImageForDevice || answer == cudaErrorInvalidDeviceFunction ||
      answer == cudaErrorUnsupportedPtxVersion || answer == cudaErrorInvalidPtx) {
    return fmt::format("{}: this build holds code for {} only: {}", name, ECHOFORM_CUDA_ARCHITECTURES, text_of(answer));
  }
  return fmt::format("{} does not start: {}", name, text_of(answer));
}

}  // namespace

std::string why_no_cuda(int device) {
  const GpuProbe probe = probe_devices();
  if (probe.devices.empty()) return probe.status;
  if (device < 0 || static_cast<std::size_t>(device) >= probe.devices.size()) {
    throw InputError("GPU device", fmt::format("{}", device),
                     probe.devices.size() == 1 ? std::string("0, as this machine has one GPU (see `echoform info`)")
                                               : fmt::format("0 to {}, as this machine has {} GPUs (see `echoform info`)",
                                                             probe.devices.size() - 1, probe.devices.size()));
  }
  static std::mutex mutex;
  static std::map<int, std::string> answers;
  const std::lock_guard lock(mutex);
  const auto known = answers.find(device);
  if (known != answers.end()) return known->second;
  return answers[device] = start(device, probe.devices[static_cast<std::size_t>(device)]);
}

DeviceMemory device_memory(int device) {
  const gpu::DeviceScope scope(device);
  DeviceMemory memory;
  cudaError_t answer = scope.error();
  if (answer == cudaSuccess) answer = gpu::memory_calls().device_info(&memory.free, &memory.total);
  if (answer != cudaSuccess) throw RuntimeFault(fmt::format("GPU {}: no answer about its memory: {}", device, text_of(answer)));
  return memory;
}

}  // namespace echoform
