// The report of a soak, for people and scripts.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/soak/counters.hpp"
#include "apps/soak/course.hpp"
#include "apps/soak/viewers.hpp"

namespace echoform::soak {

struct Report {
  double seconds = 0.0;
  std::uint64_t seed = 0;
  std::uint64_t readings = 0;  ///< of /metrics
  std::uint64_t telemetry_messages = 0;
  Counters counters;  ///< the last reading
  Counters expected;
  std::vector<ViewerFigures> viewers;
  LatencyFigures latency;                ///< of the whole run
  std::array<Slope, 2> latency_drift{};  ///< of p50 and p99, ms per hour
  std::vector<Trend> trends;
  double memory_at_start = 0.0;  ///< bytes, before the first peer
  double memory_at_end = 0.0;    ///< after the last
  std::map<std::string, std::uint64_t> faults;
  std::optional<std::string> failure;
};

/// The line of every ten seconds.
[[nodiscard]] std::string course_line(double seconds, const Counters& counters, const ViewerFigures& good,
                                      const LatencyFigures& latency, const ProcessFigures& process, std::uint64_t faults);
/// "memory: +812 KiB per hour (...)", for a figure that grows.
[[nodiscard]] std::string growth_text(const Trend& trend);
[[nodiscard]] std::string report_text(const Report& report);
[[nodiscard]] nlohmann::ordered_json json_of(const Report& report);

}  // namespace echoform::soak
