// Text for standard output and standard error, which may be a pipe that nobody reads, a full disk or a terminal that is held.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <string_view>
#include <utility>

#include "base/terminal_text.hpp"

namespace echoform {

/// Writes to a descriptor that this process may share with others, whose flags stay as they are. What cannot be written is lost
/// without an exception, and without a signal where SIGPIPE and SIGXFSZ are ignored. Any thread.
class TextOutput {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// The descriptor outlives this.
  explicit TextOutput(int descriptor) noexcept;
  ~TextOutput();
  TextOutput(const TextOutput&) = delete;
  TextOutput& operator=(const TextOutput&) = delete;

  /// Waits until all of `text` is written, or until the time of give_up_at(). Returns false where some of it was lost:
  /// nobody can read it any more, the disk is full, or that time has come.
  bool write(std::string_view text) noexcept;
  /// Sets the time at which every write() gives up, also one that waits now: text that cannot be written by then is lost at
  /// once. A later call can only make it earlier.
  void give_up_at(Time time) noexcept;

 private:
  [[nodiscard]] bool write_locked(std::string_view text) noexcept;
  [[nodiscard]] std::ptrdiff_t put(std::string_view text) noexcept;
  [[nodiscard]] bool wait_for_room() noexcept;

  const int descriptor_;
  int own_ = -1;   // the same pipe or terminal once more, so that it can be one that does not wait
  int wake_ = -1;  // an eventfd: patience has changed
  bool socket_ = false;
  bool waits_ = false;    // a pipe or terminal that could not be opened once more
  std::size_t most_ = 0;  // bytes that fit where such a one says that it has room
  std::atomic<Time::rep> patience_;
  std::timed_mutex mutex_;
};

/// The outputs of this process. Neither is ever destroyed, so that threads may use them even at the end of the process.
[[nodiscard]] TextOutput& standard_output() noexcept;
[[nodiscard]] TextOutput& standard_error() noexcept;

/// As fmt::print() on standard output, at once, and without an exception where it cannot be written. For commands that last:
/// standard output that nobody reads shall not keep them from ending. What could steer a terminal is replaced (terminal_text()).
template <class... Arguments>
void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  standard_output().write(terminal_text(fmt::format(format, std::forward<Arguments>(arguments)...), LineBreaks::kept));
}
/// The same for commands that have not done what they were asked for until all of it is written: as fmt::print(), it throws
/// std::system_error where that fails.
template <class... Arguments>
void print_result(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  fmt::print("{}", terminal_text(fmt::format(format, std::forward<Arguments>(arguments)...), LineBreaks::kept));
}

}  // namespace echoform
