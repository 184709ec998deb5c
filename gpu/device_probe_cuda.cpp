#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>

#include "gpu/device_probe.hpp"
#include "gpu/probe_status.hpp"

namespace echoform {
namespace {

/// The release as the driver's module reports it, such as "580.65.06" from "NVRM version: NVIDIA UNIX ... 580.65.06  Release
/// ..."; empty if the module reports none.
std::string driver_release() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string word;
  while (file >> word) {
    const bool number = word.find_first_not_of("0123456789.") == std::string::npos;
    if (number && std::count(word.begin(), word.end(), '.') > 0) return word;
  }
  return {};
}

GpuProbe ask() {
  GpuProbe probe;
  probe.compiled = true;
  int runtime = 0;
  if (cudaRuntimeGetVersion(&runtime) == cudaSuccess) probe.runtime = "CUDA " + gpu::version_text(runtime);
  int driver = 0;
  if (cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0) {
    const std::string release = driver_release();
    probe.driver = fmt::format("{}{}for CUDA {}", release, release.empty() ? "" : " ", gpu::version_text(driver));
  }
  int count = 0;
  const cudaError_t answer = cudaGetDeviceCount(&count);
  // The runtime keeps errors of the probe until they are read, so they are read before other code finds them.
  static_cast<void>(cudaGetLastError());
  probe.status = gpu::probe_status(answer, count, driver, runtime);
  if (answer != cudaSuccess) return probe;
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    // A device that does not report its properties keeps its number.
    GpuDevice device{.name = "unknown"};
    if (cudaGetDeviceProperties(&properties, index) == cudaSuccess) {
      const auto part = [](int number) { return static_cast<std::uint64_t>(static_cast<std::uint32_t>(number)); };
      device = {.name = properties.name,
                .major = properties.major,
                .minor = properties.minor,
                .memory = properties.totalGlobalMem,
                .place = part(properties.pciDomainID) << 16 | part(properties.pciBusID) << 8 | part(properties.pciDeviceID)};
    }
    probe.devices.push_back(std::move(device));
  }
  static_cast<void>(cudaGetLastError());
  return probe;
}

}  // namespace

GpuProbe probe_cuda_devices() {
  // The list of devices does not change while a process runs.
  static const GpuProbe probe = ask();
  return probe;
}

std::size_t block_memory() {
  int device = 0;
  int bytes = 0;
  if (cudaGetDevice(&device) == cudaSuccess &&
      cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) == cudaSuccess) {
    return static_cast<std::size_t>(bytes);
  }
  static_cast<void>(cudaGetLastError());
  return usual_block_memory;
}

}  // namespace echoform
