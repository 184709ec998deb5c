// Which GPUs this machine has, as far as this build can tell. Never fails: what is missing is said in words.
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
  /// Where it is in its host (domain, bus and device of PCI), which no other is: the same for whichever process asks, however few
  /// of the devices that one sees. Below 2^53; 0 where it does not tell.
  std::uint64_t place = 0;
};

struct GpuProbe {
  bool compiled = false;  ///< whether this build holds CUDA code
  std::string status;     ///< one line: "2 devices", "no driver", "no device", "the driver is too old: ..." ...
  std::string runtime;    ///< "CUDA 13.0", empty without CUDA code
  std::string driver;     ///< "580.65.06 for CUDA 13.0", empty without driver
  std::vector<GpuDevice> devices;
};

/// Asked once a process. Starts no device; devices are numbered as CUDA numbers them.
[[nodiscard]] GpuProbe probe_devices();

/// Shared memory that a block of threads may ask for on the current device of this thread, in bytes; where there is none, or no
/// CUDA code, what compute capability 9.0 has.
[[nodiscard]] std::size_t block_memory();
inline constexpr std::size_t usual_block_memory = 232448;

/// "12.0.0", or in a line why cuFFT is not to be had. Loads it.
[[nodiscard]] std::string cufft_status();
/// The same of cuBLAS.
[[nodiscard]] std::string cublas_status();

}  // namespace echoform
