// The interfaces of a server, called doors: sources of frames and sinks of images, and how a configuration opens each.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "base/clock.hpp"
#include "config/configuration.hpp"
#include "config/key.hpp"
#include "config/settings_follower.hpp"
#include "pipeline/image_sink.hpp"
#include "pipeline/scan.hpp"
#include "transport/acquisition/acquisition_source.hpp"
#include "transport/control/control_action.hpp"
#include "transport/telemetry_report.hpp"

namespace echoform {

/// An opened source.
struct OpenSource {
  OpenSource() = default;
  template <std::derived_from<AcquisitionSource> Opened>
  OpenSource(std::unique_ptr<Opened> opened)
      : source(std::move(opened)) {}  // NOLINT(google-explicit-constructor): mostly it is all

  std::unique_ptr<AcquisitionSource> source;  ///< null where the configuration asks for none
  /// Follows changes of settings that the source applies while it runs; none: it applies no changes. It is not called once
  /// the source is destroyed.
  std::optional<SettingsFollower> follower{};
};

struct SourceDoor {
  std::string label;  ///< of its line when the server starts
  /// Opens the source; none where the configuration does not ask for it. Throws InputError for a configuration that it
  /// cannot use. Time-outs use `clock`, which must outlive the source.
  std::function<OpenSource(const Configuration& configuration, const Clock& clock)> make;
  KeyGroup keys{};
};

/// Answers of the server to clients of a sink that ask for more than images. Any thread may call both functions, also several
/// threads at the same time. Neither function takes long.
struct ServerAnswers {
  /// Prometheus text; empty once the server has stopped.
  std::function<std::string()> metrics;
  /// Answers a control request whose body is JSON. `answer` is called once, on any thread and at any time, with an HTTP
  /// status and JSON.
  std::function<void(std::string body, std::function<void(unsigned status, std::string json)> answer)> control;
};

/// An opened sink, and what else the server needs to know of it. All but the sink may be left out.
struct OpenSink {
  OpenSink() = default;
  template <std::derived_from<ImageSink> Sink>
  OpenSink(std::shared_ptr<Sink> opened) : sink(std::move(opened)) {}  // NOLINT(google-explicit-constructor): mostly it is all

  std::shared_ptr<ImageSink> sink;  ///< null where the configuration asks for none
  /// Adds the sink's figures that have telemetry fields of their own. It may be set although `sink` is null, to report that.
  /// Any thread may call it.
  std::function<void(TelemetryReport& report)> tell{};
  std::vector<ControlAction> actions{};                       ///< of live control
  std::function<void(ServerAnswers answers)> take_answers{};  ///< once, before doors for frames are opened
  std::function<void(ScanRecord& record)> begin_scan{};       ///< as ScanRecords::Begin; set by the one sink that keeps scans
  std::string invitation{};                                   ///< a line for the user: "Open URL in a browser."
};

struct SinkDoor {
  std::string label;  ///< likewise; also the name of the sink's figures in telemetry and metrics
  /// Opens the sink, and binds its addresses. Throws RuntimeFault for a port in use.
  std::function<OpenSink(const Configuration& configuration)> make;
  KeyGroup keys{};
  bool shows_iterates = false;  ///< whether `echoform reconstruct --preview` opens it too
  /// How many connections it lets in, besides those of [server]; none: it has no limit of its own.
  std::function<std::size_t(const Configuration& configuration)> connections{};
};

/// The sinks for other programs, each in a folder of transport/.
[[nodiscard]] std::vector<SinkDoor> output_doors();

/// Limits of what senders may state, from [input] max_elements, max_samples and max_frame_bytes.
[[nodiscard]] AcquisitionLimits limits_of(const InputSection& input);

/// Where a key of the configuration says to listen. Throws InputError, naming file and key, unless it is an address and a port;
/// ZeroMQ's take "*" for every interface.
[[nodiscard]] HostPort listening_place(const Configuration& configuration, const std::string& text, std::string_view key);

/// The time rounded to the nearest millisecond.
[[nodiscard]] inline std::chrono::milliseconds in_milliseconds(Seconds time) {
  return std::chrono::milliseconds(static_cast<std::chrono::milliseconds::rep>(1e3 * time.value + 0.5));
}

}  // namespace echoform
