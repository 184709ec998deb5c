#include "gpu/memory_report.hpp"

#include <fmt/format.h>

#include "base/errors.hpp"

namespace echoform {

void require_memory(const DeviceMemory& memory, int device, std::size_t bytes_needed, std::string_view what_would_fit) {
  if (bytes_needed <= memory.free) return;
  throw RuntimeFault(fmt::format("GPU {}: too little device memory: needs {:.2f} GB, {:.2f} of {:.2f} GB free{}{}", device,
                                 1e-9 * static_cast<double>(bytes_needed), 1e-9 * static_cast<double>(memory.free),
                                 1e-9 * static_cast<double>(memory.total),
                                 what_would_fit.empty() ? "" : "; would fit: ", what_would_fit));
}

void require_device_memory(int device, std::size_t bytes_needed, std::string_view what_would_fit) {
  require_memory(device_memory(device), device, bytes_needed, what_would_fit);
}

}  // namespace echoform
