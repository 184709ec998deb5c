#include "transport/metrics_text.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <chrono>
#include <set>
#include <utility>

#include "pipeline/words.hpp"

namespace echoform {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

// Collects families in the order in which they are shown.
class Families {
 public:
  void counter(const char* name, const char* help, double value) { begin(name, help, MetricType::Counter), counter({}, value); }
  void counter(Labels labels, double value) { add(std::move(labels)).counter.value = value; }
  void gauge(const char* name, const char* help, double value, Labels labels = {}) {
    begin(name, help, MetricType::Gauge);
    gauge(std::move(labels), value);
  }
  void gauge(Labels labels, double value) { add(std::move(labels)).gauge.value = value; }
  void histogram(const DistributionSnapshot& from, Labels labels) {
    auto& histogram = add(std::move(labels)).histogram;
    histogram.sample_count = from.count;
    histogram.sample_sum = from.sum;
    for (std::size_t i = 0; i < bucket_edges.size(); ++i) histogram.bucket.push_back({from.at_most[i], bucket_edges[i]});
  }
  void begin(const char* name, const char* help, MetricType type) {
    list_.push_back({std::string("echoform_") + name, help, type, {}});
  }
  const std::vector<MetricFamily>& list() const { return list_; }

 private:
  ClientMetric& add(Labels labels) {
    auto& metric = list_.back().metric.emplace_back();
    metric.label = std::move(labels);
    return metric;
  }
  std::vector<MetricFamily> list_;
};

double number(std::uint64_t value) {
  return static_cast<double>(value);
}

// Figures of each input have families of their own, so that the families of the sums keep their names and labels.
void add_doors(Families& families, const TelemetryReport& report) {
  families.begin("door_senders_total", "Senders by door: connections over TCP, sessions over ZeroMQ.", MetricType::Counter);
  for (const auto& [name, counters, rejection] : report.doors) {
    families.counter({{"door", name}, {"outcome", "accepted"}}, number(counters.connections_accepted));
    families.counter({{"door", name}, {"outcome", "rejected"}}, number(counters.connections_rejected));
    families.counter({{"door", name}, {"outcome", "timed_out"}}, number(counters.connections_timed_out));
    families.counter({{"door", name}, {"outcome", "lost"}}, number(counters.connections_lost));
  }
  families.begin("door_shots_total", "Shots by door; discarded: received and thrown away.", MetricType::Counter);
  for (const auto& [name, counters, rejection] : report.doors) {
    families.counter({{"door", name}, {"outcome", "taken"}}, number(counters.shots_received - counters.shots_discarded));
    families.counter({{"door", name}, {"outcome", "discarded"}}, number(counters.shots_discarded));
  }
  families.begin("door_decode_errors_total", "Messages of senders that could not be used, by door.", MetricType::Counter);
  for (const auto& [name, counters, rejection] : report.doors) {
    families.counter({{"door", name}}, number(counters.decode_errors_total()));
  }
}

void add_counters(Families& families, const TelemetryReport& report) {
  const CounterSnapshot& counters = report.metrics.counters;
  families.counter("frames_received_total", "Frames whose first shot took a slot or was refused one.",
                   number(counters.frames_received));
  families.counter("frames_published_total", "Frames handed to viewers, once each.", number(counters.frames_published));
  families.begin("frames_dropped_total", "Frames received and not published.", MetricType::Counter);
  for (std::size_t i = 0; i < drop_reason_count; ++i) {
    families.counter({{"reason", std::string(words::drop_reason.of(static_cast<DropReason>(i)))}},
                     number(counters.frames_dropped[i]));
  }
  families.counter("sequence_gaps_total", "Frames that never arrived, by their sequence.", number(counters.sequence_gaps));
  families.counter("bytes_received_total", "Bytes of samples received.", number(counters.bytes_received));
  families.counter("shots_duplicate_total", "Shots that had already come.", number(counters.shots_duplicate));
  families.counter("shots_stale_total", "Shots of frames already finished or dropped.", number(counters.shots_stale));
  families.counter("clipped_samples_total", "Samples at the limits of their encoding.", number(counters.clipped_samples));
  families.counter("invalid_samples_total", "Samples that were no number, taken as 0.", number(counters.invalid_samples));
  families.begin("decode_errors_total", "Messages of senders that could not be used.", MetricType::Counter);
  for (const auto& [reason, count] : report.decode_errors) families.counter({{"reason", reason}}, number(count));
  families.begin("connections_total", "Connections of senders; lost: accepted, and ended without an End.", MetricType::Counter);
  for (const auto& [outcome, count] : report.connections) families.counter({{"outcome", outcome}}, number(count));
  add_doors(families, report);
  families.begin("peers_refused_total", "Peers that were turned away or cut off.", MetricType::Counter);
  for (const auto& refusal : report.refusals) {
    families.counter({{"door", refusal.door}, {"reason", refusal.reason}}, number(refusal.peers));
  }
  families.counter("viewer_dropped_total", "Images that a viewer did not take before a newer one came, or nobody got.",
                   number(report.viewer_dropped));
  families.counter("frames_recorded_total", "Frames whose samples are in a file.", number(report.frames_recorded));
  families.begin("frames_not_recorded_total", "Frames that came while recording was asked for and are in no file.",
                 MetricType::Counter);
  for (const auto& [reason, count] : report.frames_not_recorded) families.counter({{"reason", reason}}, number(count));
  families.counter("log_lines_dropped_total", "Lines of the log and of status that standard error did not take.",
                   number(report.log_lines_dropped));
}

void add_gauges(Families& families, const TelemetryReport& report) {
  const CounterSnapshot& counters = report.metrics.counters;
  families.gauge("frames_in_flight", "Frames received and neither published nor dropped yet.", number(counters.frames_in_flight));
  families.gauge("input_frames_per_second", "Frames received per second of the last telemetry window.",
                 report.metrics.input_rate);
  families.gauge("output_frames_per_second", "Frames published per second of the last telemetry window.",
                 report.metrics.output_rate);
  families.gauge("input_bytes_per_second", "Bytes of samples received per second of the last telemetry window.",
                 report.metrics.input_bytes_rate);
  families.gauge("connections_open", "Connections of senders that are open.", number(report.connections_open));
  families.gauge("pool_free", "Buffers that are free.", static_cast<double>(counters.slots_free), {{"pool", "slots"}});
  families.gauge("pool_size", "Buffers there are.", static_cast<double>(counters.slots), {{"pool", "slots"}});
  families.gauge("recording", "1 while frames are recorded.", report.recording ? 1.0 : 0.0);
  families.begin("subscribers", "Connected for images: subscribers over ZeroMQ, viewers of the web server.", MetricType::Gauge);
  for (const auto& [door, count] : report.viewers) families.gauge({{"door", door}}, number(count));
  families.gauge("last_frame_timestamp_seconds", "When a frame was last published, in seconds since 1970; 0 before the first.",
                 std::chrono::duration<double>(report.last_frame).count());
  if (report.position) {
    families.gauge("position_counts", "Count of the probe's encoder in the frame last published; absent where it states none.",
                   static_cast<double>(*report.position));
  }
  families.gauge("settings_revision", "Of the settings in force; counts their changes from 1.", number(report.settings_revision));
  families.gauge("build_info", "1; the labels say what runs.", 1.0, {{"version", report.version}, {"backend", report.backend}});
}

void add_histograms(Families& families, const TelemetryReport& report) {
  const auto& distributions = report.metrics.distributions;
  const auto plain = [&](const char* name, const char* metric, const char* help) {
    families.begin(metric, help, MetricType::Histogram);
    for (const auto& distribution : distributions) {
      if (distribution.stage.empty() && distribution.name == name) families.histogram(distribution, {});
    }
  };
  plain("frame_latency", "frame_latency_seconds", "From a frame's last byte to its publication.");
  plain("first_byte_to_published", "first_byte_to_published_seconds", "From a frame's first byte to its publication.");
  plain("interframe", "interframe_seconds", "Between the publications of two frames.");
  families.begin("stage_duration_seconds", "Time that a stage takes for one frame.", MetricType::Histogram);
  for (const auto& distribution : distributions) {
    if (!distribution.stage.empty())
      families.histogram(distribution, {{"stage", distribution.stage}, {"backend", report.backend}});
  }
}

/// A figure that several sinks report becomes one family.
void add_sinks(Families& families, const TelemetryReport& report) {
  std::set<std::string> told;
  for (const TelemetryReport::Sink& first : report.sinks) {
    for (const SinkFigure& figure : first.figures) {
      const std::string name = "sink_" + figure.name + (figure.counts ? "_total" : "");
      if (!told.insert(name).second) continue;
      families.begin(name.c_str(), figure.help.c_str(), figure.counts ? MetricType::Counter : MetricType::Gauge);
      for (const TelemetryReport::Sink& sink : report.sinks) {
        for (const SinkFigure& same : sink.figures) {
          if (same.name != figure.name || same.counts != figure.counts) continue;
          if (same.counts) {
            families.counter({{"sink", sink.name}}, same.value);
          } else {
            families.gauge({{"sink", sink.name}}, same.value);
          }
        }
      }
    }
  }
}

}  // namespace

std::string metrics_text(const TelemetryReport& report) {
  Families families;
  add_counters(families, report);
  add_gauges(families, report);
  add_sinks(families, report);
  add_histograms(families, report);
  return prometheus::TextSerializer().Serialize(families.list());
}

}  // namespace echoform
