#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <regex>
#include <sstream>

#include "base/errors.hpp"
#include "tests/support/patience.hpp"
#include "transport/metrics_text.hpp"
#include "transport/publish/subscriber.hpp"
#include "transport/publish/telemetry_publisher.hpp"

namespace echoform {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

TelemetryReport some_report() {
  TelemetryReport report;
  auto& counters = report.metrics.counters;
  counters.frames_received = 1000;
  counters.frames_published = 900;
  counters.frames_dropped = {40, 30, 20, 5, 2};
  counters.frames_in_flight = 3;
  counters.sequence_gaps = 11;
  counters.bytes_received = 5'000'000'000;
  counters.slots = 6;
  counters.slots_free = 3;
  report.metrics.input_rate = 51.5;
  report.metrics.output_rate = 50.25;
  for (const char* name : {"frame_latency", "first_byte_to_published", "interframe", "stage_beamform", "stage_envelope"}) {
    DistributionSnapshot distribution;
    distribution.name = name;
    if (distribution.name.starts_with("stage_")) distribution.stage = distribution.name.substr(6);
    distribution.window_count = 50;
    distribution.p50 = 4ms;
    distribution.p99 = 7ms;
    distribution.count = 900;
    distribution.sum = 3.6;
    for (std::size_t i = 0; i < bucket_edges.size(); ++i) distribution.at_most[i] = bucket_edges[i] < 5e-3 ? 10 * i : 900;
    report.metrics.distributions.push_back(distribution);
  }
  report.backend = "cpu";
  report.version = "0.1.0";
  report.acquisition = "32 elements";
  report.viewers = {{"images", 3}, {"web", 2}};
  report.log_lines_dropped = 23;
  report.viewer_dropped = 17;
  report.last_frame = 1'700'000'000'500ms;
  report.position = -41;
  report.decode_errors = {{"checksum", 3}, {"magic", 1}};
  report.connections = {{"accepted", 5}, {"lost", 2}};
  report.connections_open = 1;
  return report;
}

TEST(Telemetry, CarriesTheClosure) {
  wire::Telemetry message;
  const TelemetryReport report = some_report();
  ASSERT_TRUE(report.metrics.counters.closes());
  fill_telemetry(report, "echoform", 5s, message);
  std::uint64_t dropped = 0;
  for (const auto& drop : message.drops()) dropped += drop.frames();
  EXPECT_EQ(message.drops_size(), static_cast<int>(drop_reason_count));
  EXPECT_EQ(message.frames_received(), message.frames_published() + dropped + message.frames_in_flight());
  EXPECT_EQ(message.time(), 5'000'000'000u);
  EXPECT_DOUBLE_EQ(message.output_rate(), 50.25);
  EXPECT_EQ(message.viewer_dropped(), 17u);
  EXPECT_EQ(message.position(), -41);
  ASSERT_EQ(message.distributions_size(), 5);
  EXPECT_EQ(message.distributions(0).name(), "frame_latency");
  EXPECT_EQ(message.distributions(0).p99(), 7'000'000u);
  TelemetryReport next = report;
  next.position.reset();
  fill_telemetry(next, "echoform", 6s, message);  // reused
  EXPECT_EQ(message.distributions_size(), 5);
  EXPECT_FALSE(message.has_position());
}

TEST(TelemetryPublisher, SendsReportsOnItsOwnSocket) {
  TelemetryPublisher publisher({.port = 0, .interval = 5ms}, some_report);
  TelemetrySubscriber subscriber(publisher.endpoint(), "echoform"), other(publisher.endpoint(), "echofor");
  for (int i = 0; i < 3; ++i) {
    const wire::Telemetry* message = subscriber.receive(patience);
    ASSERT_NE(message, nullptr);
    EXPECT_EQ(message->frames_received(), 1000u);
    EXPECT_EQ(message->stream(), "echoform");
  }
  EXPECT_EQ(other.receive(50ms), nullptr);  // a name that only begins alike
}

TEST(TelemetryPublisher, StopsWithoutWaitingForItsInterval) {
  // Were the interval waited for, the test would run into its time limit.
  TelemetryPublisher publisher({.port = 0, .interval = 24h}, some_report);
}

TEST(TelemetryPublisher, SurvivesAReaderThatThrows) {
  int calls = 0;
  TelemetryPublisher publisher({.port = 0, .interval = 5ms}, [&calls]() -> TelemetryReport {
    if (++calls % 2 == 1) throw std::runtime_error("no figures now");
    return some_report();
  });
  TelemetrySubscriber subscriber(publisher.endpoint());
  EXPECT_NE(subscriber.receive(patience), nullptr);
}

TEST(TelemetryPublisher, PortInUseAndBadOptions) {
  TelemetryPublisher publisher({.port = 0}, some_report);
  try {
    TelemetryPublisher second({.port = publisher.port()}, some_report);
    FAIL();
  } catch (const RuntimeFault& fault) {
    EXPECT_THAT(fault.what(),
                HasSubstr("telemetry publisher: cannot listen on " + publisher.endpoint() + ": the port is in use"));
  }
  EXPECT_THROW(TelemetryPublisher({.port = 0, .interval = 0ms}, some_report), InputError);
}

// A reader of the text format that knows just enough: families by HELP and TYPE, samples by name and labels.
struct Exposition {
  std::map<std::string, std::string> types;
  std::map<std::string, double> samples;
};

Exposition read(const std::string& text) {
  Exposition out;
  std::istringstream lines(text);
  const std::regex type(R"(# TYPE ([a-z_]+) (counter|gauge|histogram))"), help(R"(# HELP [a-z_]+ .+)"),
      sample(R"(([a-z_]+(?:\{.*\})?) (\S+))");
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, type)) {
      EXPECT_TRUE(out.types.emplace(match[1], match[2]).second) << line;
    } else if (std::regex_match(line, help)) {
      continue;
    } else if (std::regex_match(line, match, sample)) {
      EXPECT_TRUE(out.samples.emplace(match[1], std::stod(match[2])).second) << line;
    } else {
      ADD_FAILURE() << "not the text format: " << line;
    }
  }
  return out;
}

TEST(Telemetry, ViewersAreThoseOfAllDoors) {
  wire::Telemetry message;
  fill_telemetry(some_report(), "echoform", 5s, message);
  EXPECT_EQ(message.subscribers(), 5U);
  const std::string text = metrics_text(some_report());
  EXPECT_THAT(text, HasSubstr("echoform_subscribers{door=\"images\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("echoform_subscribers{door=\"web\"} 2\n"));
}

TEST(Telemetry, LinesThatTheLogLostAreCounted) {
  wire::Telemetry message;
  fill_telemetry(some_report(), "echoform", 5s, message);
  EXPECT_EQ(message.log_lines_dropped(), 23U);
  EXPECT_THAT(metrics_text(some_report()), HasSubstr("echoform_log_lines_dropped_total 23\n"));
}

TEST(Telemetry, TellsWhatSinksTell) {
  TelemetryReport report = some_report();
  report.sinks = {{"list", {{"lines", "Lines written.", 12.0, true}, {"value", "The last one.", 0.25}}},
                  {"other \"list\"", {{"lines", "Lines written.", 3.0, true}}}};
  wire::Telemetry message;
  fill_telemetry(report, "echoform", 5s, message);
  ASSERT_EQ(message.sinks_size(), 2);
  EXPECT_EQ(message.sinks(0).name(), "list");
  ASSERT_EQ(message.sinks(0).figures_size(), 2);
  EXPECT_EQ(message.sinks(0).figures(0).name(), "lines");
  EXPECT_EQ(message.sinks(0).figures(0).help(), "Lines written.");
  EXPECT_EQ(message.sinks(0).figures(0).value(), 12.0);
  EXPECT_TRUE(message.sinks(0).figures(0).counts());
  EXPECT_FALSE(message.sinks(0).figures(1).counts());
  EXPECT_EQ(sink_text(report.sinks[0]), "list: lines 12, value 0.25");
  const Exposition text = read(metrics_text(report));
  EXPECT_EQ(text.types.at("echoform_sink_lines_total"), "counter");
  EXPECT_EQ(text.types.at("echoform_sink_value"), "gauge");
  EXPECT_EQ(text.samples.at("echoform_sink_lines_total{sink=\"list\"}"), 12.0);
  EXPECT_EQ(text.samples.at("echoform_sink_lines_total{sink=\"other \\\"list\\\"\"}"), 3.0);
  EXPECT_EQ(text.samples.at("echoform_sink_value{sink=\"list\"}"), 0.25);
}

TEST(Metrics, NamesUnitsAndTypes) {
  const Exposition text = read(metrics_text(some_report()));
  for (const char* name :
       {"frames_received_total", "frames_published_total", "frames_dropped_total", "sequence_gaps_total", "bytes_received_total",
        "decode_errors_total", "clipped_samples_total", "viewer_dropped_total", "connections_total"}) {
    EXPECT_EQ(text.types.at(std::string("echoform_") + name), "counter") << name;
  }
  for (const char* name : {"pool_free", "subscribers", "last_frame_timestamp_seconds", "build_info", "frames_in_flight",
                           "connections_open", "input_frames_per_second", "output_frames_per_second", "input_bytes_per_second"}) {
    EXPECT_EQ(text.types.at(std::string("echoform_") + name), "gauge") << name;
  }
  for (const char* name : {"stage_duration_seconds", "frame_latency_seconds", "interframe_seconds"}) {
    EXPECT_EQ(text.types.at(std::string("echoform_") + name), "histogram") << name;
  }
  for (const auto& [name, type] : text.types) {
    EXPECT_EQ(name.rfind("echoform_", 0), 0u) << name;
    EXPECT_EQ(type == "counter", name.ends_with("_total")) << name;
  }
}

TEST(Metrics, ValuesCloseAndHistogramsAreCumulative) {
  const Exposition text = read(metrics_text(some_report()));
  const auto value = [&](const std::string& name) { return text.samples.at("echoform_" + name); };
  double dropped = 0;
  for (const char* reason : {"incomplete", "ring_full", "superseded", "failed", "stopped"}) {
    dropped += value("frames_dropped_total{reason=\"" + std::string(reason) + "\"}");
  }
  EXPECT_EQ(value("frames_received_total"), value("frames_published_total") + dropped + value("frames_in_flight"));
  EXPECT_EQ(value("bytes_received_total"), 5e9);
  EXPECT_EQ(value("decode_errors_total{reason=\"checksum\"}"), 3);
  EXPECT_EQ(value("connections_total{outcome=\"lost\"}"), 2);
  EXPECT_EQ(value("connections_open"), 1);
  EXPECT_DOUBLE_EQ(value("input_frames_per_second"), some_report().metrics.input_rate);
  EXPECT_DOUBLE_EQ(value("output_frames_per_second"), some_report().metrics.output_rate);
  EXPECT_DOUBLE_EQ(value("input_bytes_per_second"), some_report().metrics.input_bytes_rate);
  EXPECT_DOUBLE_EQ(value("last_frame_timestamp_seconds"), 1'700'000'000.5);
  EXPECT_EQ(value("position_counts"), -41);
  EXPECT_EQ(value("build_info{version=\"0.1.0\",backend=\"cpu\"}"), 1);

  const std::string labels = "stage=\"beamform\",backend=\"cpu\"";
  EXPECT_EQ(value("stage_duration_seconds_count{" + labels + "}"), 900);
  EXPECT_DOUBLE_EQ(value("stage_duration_seconds_sum{" + labels + "}"), 3.6);
  EXPECT_EQ(value("stage_duration_seconds_bucket{" + labels + ",le=\"+Inf\"}"), 900);
  std::map<double, double> buckets;
  for (const auto& [name, count] : text.samples) {
    std::smatch match;
    if (std::regex_match(name, match, std::regex("echoform_frame_latency_seconds_bucket\\{le=\"(.*)\"\\}"))) {
      buckets[match[1] == "+Inf" ? INFINITY : std::stod(match[1])] = count;
    }
  }
  EXPECT_EQ(buckets.size(), bucket_edges.size() + 1);
  double last = 0;
  for (const auto& [edge, count] : buckets) {
    EXPECT_GE(count, last) << edge;
    last = count;
  }
}

}  // namespace
}  // namespace echoform
