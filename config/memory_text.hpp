// Amounts of memory in messages.
#pragma once

#include <fmt/format.h>

#include <string>

namespace echoform {

/// "0.39 GB", or "3.2 MB" below 0.1 GB.
[[nodiscard]] inline std::string memory_text(double bytes) {
  return bytes < 1e8 ? fmt::format("{:.3g} MB", 1e-6 * bytes) : fmt::format("{:.2f} GB", 1e-9 * bytes);
}

}  // namespace echoform
