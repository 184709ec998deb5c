#include <cuda_runtime_api.h>

#include <string>

#include "gpu/device_probe.hpp"

namespace echoform {

GpuProbe probe_cuda_devices() {
  GpuProbe probe;
  probe.compiled = true;
  int version = 0;
  if (cudaRuntimeGetVersion(&version) == cudaSuccess) {
    probe.runtime = "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  }
  int count = 0;
  const cudaError_t answer = cudaGetDeviceCount(&count);
  // Errors of the probe stay with the runtime until they are read; nobody else shall find them.
  static_cast<void>(cudaGetLastError());
  if (answer == cudaErrorInsufficientDriver || answer == cudaErrorStubLibrary) {
    int driver = 0;
    static_cast<void>(cudaDriverGetVersion(&driver));
    probe.status = driver == 0 ? "no driver" : "the driver is too old for this build's runtime";
    return probe;
  }
  if (answer == cudaErrorNoDevice || (answer == cudaSuccess && count == 0)) {
    probe.status = "no device";
    return probe;
  }
  if (answer != cudaSuccess) {
    probe.status = std::string("no answer from the driver: ") + cudaGetErrorString(answer);
    return probe;
  }
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, index) != cudaSuccess) continue;
    probe.devices.push_back({properties.name, properties.major, properties.minor, properties.totalGlobalMem});
  }
  probe.status = std::to_string(probe.devices.size()) + (probe.devices.size() == 1 ? " device" : " devices");
  return probe;
}

}  // namespace echoform
