#include "apps/soak/report.hpp"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace echoform::soak {
namespace {

std::string trend_text(const Trend& trend) {
  const std::string unit = trend.unit.empty() ? std::string() : fmt::format(" {}", trend.unit);
  const int digits = trend.unit.empty() ? 1 : 0;
  if (trend.blocks == 0) {
    return fmt::format("{}: at most {:.0f}{}; too short a run for a slope", trend.name, trend.most, unit);
  }
  const Slope& slope = trend.growth.whole;
  return fmt::format("{}: {:.0f} to {:.0f}{} (at most {:.0f}), slope {:+.{}f}{} per hour ({:+.{}f} .. {:+.{}f}), {}", trend.name,
                     trend.first, trend.last, unit, trend.most, slope.median, digits, unit, slope.low, digits, slope.high, digits,
                     trend.blocks < fewest_readings ? "too short a run to judge"
                     : trend.growth.grows           ? "GROWS"
                                                    : "no growth");
}

}  // namespace

std::string course_line(double seconds, const Counters& counters, const ViewerFigures& good, const LatencyFigures& latency,
                        const ProcessFigures& process, std::uint64_t faults) {
  const Closure closure = closure_of(counters);
  return fmt::format(
      "{:5.0f} s  {}; drops {} | good viewer {} images, gaps {} | latency p50 {:.1f}, p99 {:.1f} ms | {:.1f} MiB, {:.0f} "
      "descriptors, {:.0f} threads | {} faults",
      seconds, closure.text(), drops_text(counters), good.images, good.gaps, latency.p50, latency.p99, process.memory / 1048576.0,
      process.descriptors, process.threads, faults);
}

std::string growth_text(const Trend& trend) {
  return trend_text(trend);
}

std::string report_text(const Report& report) {
  std::string text;
  const auto put = [&]<class... Arguments>(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Arguments>(arguments)...);
  };
  put("\nsoak of {:.0f} s, seed {}\n", report.seconds, report.seed);
  put("closure: exact in {} readings of /metrics and {} telemetry messages{}; {}\n", report.readings, report.telemetry_messages,
      report.failure ? " but for what is said below" : "", closure_of(report.counters).text());
  put("drops: {}\n", drops_text(report.counters));
  put("counts, found and foretold:\n");
  for (const auto& [name, expected] : report.expected) {
    put("  {:<66} {:>8} {:>8}\n", name, value_of(report.counters, name), expected);
  }
  put("viewers:\n");
  for (const ViewerFigures& viewer : report.viewers) {
    put("  {:<24} {} images, {} left out, {} connections\n", viewer.name, viewer.images, viewer.gaps, viewer.connections);
  }
  put("latency, last byte to published: p50 {:.2f}, p90 {:.2f}, p99 {:.2f}, maximum {:.2f} ms\n", report.latency.p50,
      report.latency.p90, report.latency.p99, report.latency.maximum);
  const char* const names[] = {"p50", "p99"};
  for (std::size_t k = 0; k < report.latency_drift.size(); ++k) {
    const Slope& drift = report.latency_drift[k];
    put("  drift of {} {:+.2f} ms per hour ({:+.2f} .. {:+.2f})\n", names[k], drift.median, drift.low, drift.high);
  }
  for (const Trend& trend : report.trends) put("{}\n", trend_text(trend));
  put("memory before the first peer {:.1f} MiB, after the last {:.1f} MiB\n", report.memory_at_start / 1048576.0,
      report.memory_at_end / 1048576.0);
  std::uint64_t injected = 0;
  std::string list;
  for (const auto& [name, count] : report.faults) {
    injected += count;
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", name, count);
  }
  put("faults: {} ({})\n", injected, list);
  put("{}\n", report.failure ? "failed: " + *report.failure : "passed");
  return text;
}

nlohmann::ordered_json json_of(const Report& report) {
  using Json = nlohmann::ordered_json;
  Json json{{"seconds", report.seconds},           {"seed", report.seed},
            {"passed", !report.failure},           {"failure", report.failure ? Json(*report.failure) : Json()},
            {"metrics_readings", report.readings}, {"telemetry_messages", report.telemetry_messages}};
  const Closure closure = closure_of(report.counters);
  json["frames"] = {{"received", closure.received},
                    {"published", closure.published},
                    {"dropped", closure.dropped},
                    {"in_flight", closure.in_flight}};
  for (const auto& [name, expected] : report.expected) {
    json["counters"][name] = {{"found", value_of(report.counters, name)}, {"expected", expected}};
  }
  for (const ViewerFigures& viewer : report.viewers) {
    json["viewers"].push_back(
        {{"name", viewer.name}, {"images", viewer.images}, {"left_out", viewer.gaps}, {"connections", viewer.connections}});
  }
  json["latency_ms"] = {{"p50", report.latency.p50},
                        {"p90", report.latency.p90},
                        {"p99", report.latency.p99},
                        {"maximum", report.latency.maximum},
                        {"p50_drift_per_hour", report.latency_drift[0].median},
                        {"p99_drift_per_hour", report.latency_drift[1].median}};
  for (const Trend& trend : report.trends) {
    const Slope& slope = trend.growth.whole;
    json["trends"][std::string(trend.name)] = {{"unit", trend.unit}, {"first", trend.first},     {"last", trend.last},
                                               {"most", trend.most}, {"per_hour", slope.median}, {"low", slope.low},
                                               {"high", slope.high}, {"blocks", trend.blocks},   {"grows", trend.growth.grows}};
  }
  json["memory"] = {{"at_start", report.memory_at_start}, {"at_end", report.memory_at_end}};
  for (const auto& [name, count] : report.faults) json["faults"][name] = count;
  return json;
}

}  // namespace echoform::soak
