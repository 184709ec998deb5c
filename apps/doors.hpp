// The server's doors: what frames come in by and images go out by. A new one is a file of its own and a line in doors.cpp.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "config/configuration.hpp"
#include "pipeline/image_sink.hpp"
#include "transport/acquisition/acquisition_source.hpp"

namespace echoform {

struct SourceDoor {
  std::string_view label;  ///< of its line when the server starts
  /// Null where the configuration asks for no such door. Throws InputError for one that it cannot use. Time-outs go by `clock`,
  /// which outlives the source.
  std::unique_ptr<AcquisitionSource> (*make)(const Configuration& configuration, const Clock& clock);
};

struct SinkDoor {
  std::string_view label;
  /// Binds what it listens on: RuntimeFault for a port in use. Null where the configuration asks for none.
  std::shared_ptr<ImageSink> (*make)(const Configuration& configuration);
};

/// Where a key of the configuration says to listen. Throws InputError, naming file and key, unless it is an address and a port;
/// ZeroMQ's take "*" for every interface.
[[nodiscard]] HostPort listening_place(const Configuration& configuration, const std::string& text, std::string_view key);

[[nodiscard]] const std::vector<SourceDoor>& source_doors();
[[nodiscard]] const std::vector<SinkDoor>& sink_doors();

/// File descriptors that the server takes if every door has as many connections as the configuration lets in. A connection over
/// ZeroMQ takes two.
[[nodiscard]] std::size_t descriptors_wanted(const Configuration& configuration);
/// Throws RuntimeFault where too few are left for any server; logs a line where the limit does not hold those that are wanted.
void check_descriptors(const Configuration& configuration);

/// Rounded to the nearest.
[[nodiscard]] inline std::chrono::milliseconds in_milliseconds(Seconds time) {
  return std::chrono::milliseconds(static_cast<std::chrono::milliseconds::rep>(1e3 * time.value + 0.5));
}

}  // namespace echoform
