// Replay of a capture: the same bytes on as many connections, at the times at which they were received.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace echoform {

struct CaptureReplayOptions {
  std::filesystem::path input;
  std::string host = "127.0.0.1";
  std::uint16_t port = 17171;
  std::chrono::milliseconds farewell{10000};  ///< how long connections may take to be closed by the server at the end
};

struct CaptureReplayReport {
  std::uint64_t bytes = 0;
  std::uint64_t connections = 0;
  std::chrono::nanoseconds elapsed{0};
  std::chrono::nanoseconds latest{0};  ///< how late the latest record was handed to the system
  std::vector<std::string> endings{};  ///< connections that the server ended early, a line each; the first 16
};

/// Returns at the end of the capture, or soon after `stop`. If the server ends a connection early, the rest of its bytes is
/// lost; the others go on. Bytes that cannot be sent at once wait in a buffer of at most 64 MiB; if it is full, later
/// records wait too. `report` is called about once a second. Throws InputError for a file that is not a capture,
/// RuntimeFault if the server cannot be reached.
CaptureReplayReport replay_capture(const CaptureReplayOptions& options, const std::stop_token& stop,
                                   const std::function<void(const CaptureReplayReport&)>& report = {});

}  // namespace echoform
