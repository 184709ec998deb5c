// What a server says about itself: the telemetry message and /metrics are both made from this.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "acquisition/frame_stamp.hpp"
#include "base/clock.hpp"
#include "pipeline/image_sink.hpp"
#include "pipeline/metrics.hpp"
#include "proto/telemetry.pb.h"
#include "transport/acquisition/acquisition_source.hpp"
#include "transport/peers/peer_counters.hpp"

namespace echoform {

struct TelemetryReport {
  MetricsSnapshot metrics;
  std::string backend;                ///< "cpu, avx512, 2 threads"
  std::string acquisition;            ///< one line; empty before a sender comes
  std::vector<std::string> warnings;  ///< doubtful settings and data, a line each
  std::string version;
  /// Number of clients connected for images, by sink: subscribers of "images", viewers of "web".
  std::vector<std::pair<std::string, std::uint64_t>> viewers;
  std::uint64_t viewer_dropped = 0;
  WallTime last_frame{0};                ///< when a frame was last published; 0 before the first
  std::optional<EncoderCount> position;  ///< of that frame; none where it states none
  /// Messages that could not be used, by a reason from a fixed list.
  std::vector<std::pair<std::string, std::uint64_t>> decode_errors;
  /// Connections of senders since the start, by what became of them, from a fixed list; and those open now.
  std::vector<std::pair<std::string, std::uint64_t>> connections;
  std::uint64_t connections_open = 0;
  /// The same for each source of frames. The lists above are the sums of these.
  struct Door {
    std::string name;  ///< "tcp", "zeromq"
    SourceCounters counters;
    std::string last_rejection;
  };
  std::vector<Door> doors;
  /// Refused peers, by interface ("images") and reason ("wrong_key").
  struct Refusals {
    std::string door;
    std::string reason;
    std::uint64_t peers = 0;
  };
  std::vector<Refusals> refusals;
  /// Adds a line for each reason.
  void add_refusals(std::string_view door, const PeerCounters& counters);
  /// Figures that sinks report of themselves, by the sinks' labels.
  struct Sink {
    std::string name;
    std::vector<SinkFigure> figures;
  };
  std::vector<Sink> sinks;
  std::uint64_t settings_revision = 0;  ///< of the settings in force; 0 where they do not change
  bool recording = false;               ///< raw frames go to a file
  std::uint64_t frames_recorded = 0;
  std::uint64_t log_lines_dropped = 0;  ///< that standard error did not take
  /// Frames that should have been recorded and were not, by a reason from a fixed list.
  std::vector<std::pair<std::string, std::uint64_t>> frames_not_recorded;
};

/// "strongest: lines 12, value 0.031", for people.
[[nodiscard]] std::string sink_text(const TelemetryReport::Sink& sink);

/// Fills `message`, reusing its memory. `name` becomes its stream, `time` the time of the report.
void fill_telemetry(const TelemetryReport& report, std::string_view name, WallTime time, wire::Telemetry& message);

}  // namespace echoform
