// Which GPUs this machine has, as far as this build can find out. It never fails: what is missing is described in words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace echoform {

struct GpuDevice {
  std::string name;
  int major = 0;  ///< compute capability major.minor
  int minor = 0;
  std::size_t memory = 0;  ///< bytes
  /// PCI address in its host (domain, bus and device), which is unique. It is the same for every process, however few of the
  /// devices the process sees. Below 2^53; 0 if unknown.
  std::uint64_t place = 0;
};

struct GpuProbe {
  bool compiled = false;  ///< whether this build holds CUDA code
  std::string status;     ///< one line: "2 devices", "no driver", "no device", "the driver is too old: ..." ...
  std::string runtime;    ///< "CUDA 13.0", empty without CUDA code
  std::string driver;     ///< "580.65.06 for CUDA 13.0", empty without driver
  std::vector<GpuDevice> devices;
};

/// The result of the probe, which runs once per process. It starts no device; devices are numbered as CUDA numbers them.
[[nodiscard]] GpuProbe probe_devices();

/// Shared memory in bytes that a block of threads may request on the current device of this thread. Without a device, or
/// without CUDA code, it is the value of compute capability 9.0.
[[nodiscard]] std::size_t block_memory();
inline constexpr std::size_t usual_block_memory = 232448;

/// "12.0.0", or why cuFFT is not available, in one line. The call loads the library.
[[nodiscard]] std::string cufft_status();
/// The same of cuBLAS.
[[nodiscard]] std::string cublas_status();

}  // namespace echoform
