// The program's log, on standard error. A server goes on where nobody reads it.
#pragma once

#include <spdlog/common.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>

namespace echoform {

class TextOutput;

/// Who waits for standard error.
enum class LogMode {
  whole,    ///< the logging thread: nothing is lost while somebody reads, and the command ends when all is read
  bounded,  ///< nobody: lines go through a queue to the log's own thread; lines that do not fit are dropped and counted
};

/// The default log of spdlog, from its construction on. Only one may exist at a time. It never throws: a line that cannot be
/// written is counted, and the next line that can be written states how many were lost.
class Log {
 public:
  /// How long the end of a bounded log waits for a reader.
  static constexpr std::chrono::milliseconds patience{500};
  /// Lines that may wait for a bounded log's reader; the oldest give way.
  static constexpr std::size_t queue_lines = 1024;

  Log(TextOutput& output, bool colours, LogMode mode, spdlog::level::level_enum level);
  /// Calls finish().
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// Writes what waits. A bounded log gives up after `patience`, or when its output does, and even where its thread hangs in the
  /// system; later lines are counted as left out. May be called again, from any thread.
  void finish() noexcept;
  /// Text as it is, after the lines before: the status line. Never waits for a reader of a bounded log.
  void write(std::string_view text) noexcept;
  /// Lines and texts that were left out, since the start.
  [[nodiscard]] std::uint64_t dropped() const noexcept;

  struct State;

 private:
  std::shared_ptr<State> state_;  // its thread's too, which may outlive this
};

/// Log::write() of the current log. Without a log the text goes to standard error as it is.
void write_status(std::string_view text) noexcept;
/// Log::finish() of the current log; does nothing without one.
void finish_log() noexcept;
/// Log::dropped() of the current log; 0 without a log.
[[nodiscard]] std::uint64_t log_lines_dropped() noexcept;

}  // namespace echoform
