// A server's doors: what frames come in by and images go out by, and how each is opened by a configuration.
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

/// A source as its door opens it.
struct OpenSource {
  OpenSource() = default;
  template <std::derived_from<AcquisitionSource> Opened>
  OpenSource(std::unique_ptr<Opened> opened)
      : source(std::move(opened)) {}  // NOLINT(google-explicit-constructor): mostly it is all

  std::unique_ptr<AcquisitionSource> source;  ///< null where the configuration asks for none
  /// Of settings that the source puts in force while it runs; none: it does not. Not called once the source is gone.
  std::optional<SettingsFollower> follower{};
};

struct SourceDoor {
  std::string label;  ///< of its line when the server starts
  /// None where the configuration asks for no such door. Throws InputError for one that it cannot use. Time-outs go by `clock`,
  /// which outlives the source.
  std::function<OpenSource(const Configuration& configuration, const Clock& clock)> make;
  KeyGroup keys{};
};

/// What the server answers to those who come to a sink and ask for more than images. Both from any thread, at once.
struct ServerAnswers {
  /// Prometheus text; empty once the server has stopped.
  std::function<std::string()> metrics;
  /// Answers a control request whose body is JSON. `answer` is called once, on any thread and at any time, with an HTTP
  /// status and JSON.
  std::function<void(std::string body, std::function<void(unsigned status, std::string json)> answer)> control;
};

/// A sink as its door opens it, and what of it concerns the server besides images. All but the sink may be left out.
struct OpenSink {
  OpenSink() = default;
  template <std::derived_from<ImageSink> Sink>
  OpenSink(std::shared_ptr<Sink> opened) : sink(std::move(opened)) {}  // NOLINT(google-explicit-constructor): mostly it is all

  std::shared_ptr<ImageSink> sink;  ///< null where the configuration asks for none
  /// Adds what telemetry has fields of its own for; a sink that is not there may say so. From any thread.
  std::function<void(TelemetryReport& report)> tell{};
  std::vector<ControlAction> actions{};                       ///< of live control
  std::function<void(ServerAnswers answers)> take_answers{};  ///< once, before doors for frames are opened
  std::function<void(ScanRecord& record)> begin_scan{};       ///< as ScanRecords::Begin: of the one sink that keeps scans
  std::string invitation{};                                   ///< a line for who tries the program: "Open URL in a browser."
};

struct SinkDoor {
  std::string label;  ///< likewise; in telemetry and metrics the name of what the sink tells of itself
  /// Binds what it listens on: RuntimeFault for a port in use.
  std::function<OpenSink(const Configuration& configuration)> make;
  KeyGroup keys{};
  bool shows_iterates = false;  ///< whether `echoform reconstruct --preview` opens it too
  /// How many connections it lets in, besides those of [server]; none: it has no limit of its own.
  std::function<std::size_t(const Configuration& configuration)> connections{};
};

/// Doors for images that others' programs read, in folders of transport/.
[[nodiscard]] std::vector<SinkDoor> output_doors();

/// What senders may state, by [input] max_elements, max_samples and max_frame_bytes.
[[nodiscard]] AcquisitionLimits limits_of(const InputSection& input);

/// Where a key of the configuration says to listen. Throws InputError, naming file and key, unless it is an address and a port;
/// ZeroMQ's take "*" for every interface.
[[nodiscard]] HostPort listening_place(const Configuration& configuration, const std::string& text, std::string_view key);

/// Rounded to the nearest.
[[nodiscard]] inline std::chrono::milliseconds in_milliseconds(Seconds time) {
  return std::chrono::milliseconds(static_cast<std::chrono::milliseconds::rep>(1e3 * time.value + 0.5));
}

}  // namespace echoform
