// Which GPUs this machine has, as far as this build can tell. Never fails: what is missing is said in words.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace echoform {

struct GpuDevice {
  std::string name;
  int major = 0;  ///< compute capability major.minor
  int minor = 0;
  std::size_t memory = 0;  ///< bytes
};

struct GpuProbe {
  bool compiled = false;  ///< whether this build holds CUDA code
  std::string status;     ///< one line: "2 devices", "no driver", "no device" ...
  std::string runtime;    ///< "CUDA 12.4", empty without CUDA code
  std::vector<GpuDevice> devices;
};

[[nodiscard]] GpuProbe probe_devices();

}  // namespace echoform
