// How fast bytes travel between host and device: for `echoform info`, and limits of benchmarks. Free of CUDA's headers.
#pragma once

#include <cstddef>
#include <string>

namespace echoform {

/// Bytes per second, the best of a few copies; 0 where it could not be measured.
struct DeviceBandwidth {
  std::size_t bytes = 0;             ///< of a copy between host and device
  double host_to_device = 0.0;       ///< from plain pinned memory
  double device_to_host = 0.0;       ///< into plain pinned memory
  double device_to_device = 0.0;     ///< read and written, both counted
  double from_write_combined = 0.0;  ///< host to device, from write-combined pinned memory
  bool write_combined = false;       ///< whether write-combined pinned memory is available
  std::string problem;               ///< in a line, what kept some of it from being measured; empty if nothing
};

/// Takes well below a second, and never throws or ends the process.
[[nodiscard]] DeviceBandwidth measure_bandwidth(int device) noexcept;

}  // namespace echoform
