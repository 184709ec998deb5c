// Sends messages of the libraries that image recordings to the log.
#pragma once

#include <spdlog/spdlog.h>

#include <string>

#include "offline/imaging_messages.hpp"

namespace echoform {

[[nodiscard]] inline ImagingMessages logged_messages() {
  return {.note = [](const std::string& line) { spdlog::info("{}", line); },
          .warning = [](const std::string& line) { spdlog::warn("{}", line); }};
}

}  // namespace echoform
