// The server under test, `echoform serve` as a process of its own, so that its memory, descriptors and threads are its alone.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/soak/server_log.hpp"
#include "config/configuration.hpp"

namespace echoform::soak {

/// Figures that Linux reports of a process at one moment.
struct ProcessFigures {
  double memory = 0.0;       ///< bytes that are its own: anonymous pages, resident or swapped out
  double resident = 0.0;     ///< bytes resident, files that it maps included
  double descriptors = 0.0;  ///< open ones
  double threads = 0.0;
};

/// RuntimeFault if there is no such process.
[[nodiscard]] ProcessFigures read_process(pid_t process);

class ServerProcess {
 public:
  /// Runs this very program with `arguments` and waits until it has printed its addresses. Standard error goes to the file `log`.
  /// Where `descriptors` is not 0, it may have no more of them. RuntimeFault, with the last line of the log, if it ends instead.
  ServerProcess(const std::vector<std::string>& arguments, const std::filesystem::path& log, std::uint64_t descriptors = 0);
  /// Kills it where stop() has not ended it.
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  [[nodiscard]] pid_t id() const { return process_; }
  [[nodiscard]] ServerLog& log() { return log_; }
  /// "127.0.0.1:17171" of the line "frames in   tcp 127.0.0.1:17171", whatever stands before the address; nothing where there is
  /// no such line.
  [[nodiscard]] std::optional<HostPort> address(std::string_view label) const;

  /// How it ended ("exit code 1", "signal 11"), if it has.
  [[nodiscard]] std::optional<std::string> ended();
  /// Whether it has, or does before `time` is over.
  [[nodiscard]] bool ended_within(std::chrono::milliseconds time);
  /// Asks it to end (SIGTERM) and waits. Nothing if it ended in order, else how.
  [[nodiscard]] std::optional<std::string> stop(std::chrono::seconds patience);

 private:
  ServerLog log_;
  pid_t process_ = -1;
  int output_ = -1;
  std::string printed_;
  std::optional<std::string> ended_;
};

}  // namespace echoform::soak
