#include "transport/telemetry_report.hpp"

#include <fmt/format.h>

#include "pipeline/words.hpp"

namespace echoform {

void TelemetryReport::add_refusals(std::string_view door, const PeerCounters& counters) {
  for (const auto& [reason, word] : words::peer_refusal.entries) {
    refusals.push_back({std::string(door), std::string(word), counters.refused_for(reason)});
  }
}

std::string sink_text(const TelemetryReport::Sink& sink) {
  std::string text;
  for (const SinkFigure& figure : sink.figures) {
    text += fmt::format("{} {} {:.12g}", text.empty() ? ":" : ",", figure.name, figure.value);
  }
  return sink.name + text;
}

void fill_telemetry(const TelemetryReport& report, std::string_view name, WallTime time, wire::Telemetry& message) {
  const MetricsSnapshot& metrics = report.metrics;
  const CounterSnapshot& counters = metrics.counters;
  message.Clear();
  message.mutable_stream()->assign(name);
  message.set_time(static_cast<std::uint64_t>(time.count()));
  message.set_input_rate(metrics.input_rate);
  message.set_output_rate(metrics.output_rate);
  message.set_input_bytes_rate(metrics.input_bytes_rate);
  message.set_frames_received(counters.frames_received);
  message.set_frames_published(counters.frames_published);
  message.set_frames_in_flight(counters.frames_in_flight);
  for (std::size_t i = 0; i < drop_reason_count; ++i) {
    auto& drop = *message.add_drops();
    drop.mutable_reason()->assign(words::drop_reason.of(static_cast<DropReason>(i)));
    drop.set_frames(counters.frames_dropped[i]);
  }
  message.set_sequence_gaps(counters.sequence_gaps);
  message.set_bytes_received(counters.bytes_received);
  message.set_slots(counters.slots);
  message.set_slots_free(counters.slots_free);
  message.set_clipped_samples(counters.clipped_samples);
  message.set_invalid_samples(counters.invalid_samples);
  message.set_viewer_dropped(report.viewer_dropped);
  std::uint64_t viewers = 0;
  for (const auto& [door, count] : report.viewers) viewers += count;
  message.set_subscribers(viewers);
  for (const auto& distribution : metrics.distributions) {
    auto& to = *message.add_distributions();
    to.set_name(distribution.name);
    to.set_count(distribution.window_count);
    to.set_p50(static_cast<std::uint64_t>(distribution.p50.count()));
    to.set_p99(static_cast<std::uint64_t>(distribution.p99.count()));
    to.set_maximum(static_cast<std::uint64_t>(distribution.maximum.count()));
    to.set_mean(distribution.mean);
  }
  message.set_backend(report.backend);
  message.set_acquisition(report.acquisition);
  for (const std::string& line : report.warnings) message.add_warnings(line);
  for (const TelemetryReport::Door& door : report.doors) {
    auto& to = *message.add_doors();
    const SourceCounters& from = door.counters;
    to.set_name(door.name);
    to.set_accepted(from.connections_accepted);
    to.set_rejected(from.connections_rejected);
    to.set_timed_out(from.connections_timed_out);
    to.set_lost(from.connections_lost);
    to.set_open(from.connections_open);
    to.set_shots_received(from.shots_received);
    to.set_shots_discarded(from.shots_discarded);
    to.set_decode_errors(from.decode_errors_total());
    to.set_last_rejection(door.last_rejection);
  }
  for (const TelemetryReport::Sink& sink : report.sinks) {
    auto& to = *message.add_sinks();
    to.set_name(sink.name);
    for (const SinkFigure& figure : sink.figures) {
      auto& number = *to.add_figures();
      number.set_name(figure.name);
      number.set_help(figure.help);
      number.set_value(figure.value);
      number.set_counts(figure.counts);
    }
  }
  if (report.position) message.set_position(*report.position);
  message.set_settings_revision(report.settings_revision);
  message.set_recording(report.recording);
  message.set_frames_recorded(report.frames_recorded);
  message.set_log_lines_dropped(report.log_lines_dropped);
  for (const auto& [reason, frames] : report.frames_not_recorded) {
    auto& entry = *message.add_frames_not_recorded();
    entry.mutable_reason()->assign(reason);
    entry.set_frames(frames);
  }
  for (const auto& refusal : report.refusals) {
    if (refusal.peers == 0) continue;
    auto& to = *message.add_refusals();
    to.set_door(refusal.door);
    to.set_reason(refusal.reason);
    to.set_peers(refusal.peers);
  }
}

}  // namespace echoform
