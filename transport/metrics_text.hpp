// The telemetry report as Prometheus text.
#pragma once

#include <string>

#include "transport/telemetry_report.hpp"

namespace echoform {

/// All metrics in the text exposition format, version 0.0.4. Names begin with "echoform_", units are base units (seconds,
/// bytes), counters end in _total, and labels take values from fixed lists.
[[nodiscard]] std::string metrics_text(const TelemetryReport& report);

}  // namespace echoform
