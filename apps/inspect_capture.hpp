// The report of `echoform inspect` on a capture.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "formats/capture_scan.hpp"

namespace echoform {

/// One line for each thing that is not as it should be: damage of the file, bytes that are not the protocol.
[[nodiscard]] std::vector<std::string> capture_faults(const CaptureScan& scan);
/// Rows for people, after those of the frames.
void print_capture(const CaptureScan& scan);
[[nodiscard]] nlohmann::json json_of_capture(const CaptureScan& scan);

}  // namespace echoform
