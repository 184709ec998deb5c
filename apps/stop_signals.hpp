// SIGINT, SIGTERM and SIGHUP as a wish to stop, at any time of the program's life.
#pragma once

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <functional>
#include <mutex>
#include <stop_token>

namespace echoform {

/// Holds the signals that ask for an end back from this thread, and from those that it starts: they wait until they are let
/// through again or somebody watches. First of all in a program, before there are threads. SIGHUP stays ignored where it is
/// (nohup).
class HeldSignals {
 public:
  HeldSignals();
  /// Lets them through from here on, which ends a process by default: for this thread.
  void release() const noexcept;
  [[nodiscard]] const sigset_t& set() const noexcept { return set_; }

 private:
  sigset_t set_;
  sigset_t before_;
};

/// Who asks a process to end may do so twice at once: timeout of coreutils signals it and then its group, a terminal that is
/// closed both the shell and what the shell runs. Nobody presses Ctrl-C twice that fast.
inline constexpr std::chrono::milliseconds one_request{500};

/// For a command that ends in order: starts a thread that takes the held signals for the rest of the process's life. The first
/// one calls `on_signal`, which says whether the process ends at once; then it is for the StopSignals that there is. Before there
/// is one nothing has been made that must end in order, and the process ends, with `code_before`: nobody waits for what takes
/// long at a command's start. A second signal ends the process at once, with 128 and its number as exit code, and removes
/// every TemporaryPath; one that comes within `one_request` of the first belongs to it. RuntimeFault where the system has no
/// descriptor or thread for it.
void watch_signals(const HeldSignals& held, int code_before, std::function<void(bool at_once, int signal)> on_signal);

/// For a command that makes something and does not look for a wish to stop meanwhile. As long as this lives, the first of the
/// held signals, but for those that are ignored, removes every TemporaryPath, calls `on_signal` and ends the process with `code`.
/// RuntimeFault where the system has no thread for it.
class EndBySignals {
 public:
  EndBySignals(const HeldSignals& held, int code, std::function<void(int signal)> on_signal);
  /// The command has come to its end before a signal. Does not return where a signal was first.
  ~EndBySignals();
  EndBySignals(const EndBySignals&) = delete;
  EndBySignals& operator=(const EndBySignals&) = delete;
};

/// From its construction on the signal that is taken is a stop that is asked for, and the command ends in order. One at a time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }
  void request_stop() { source_.request_stop(); }
  /// Waits; returns true once a stop is requested.
  bool wait_for(std::chrono::milliseconds time);

 private:
  std::stop_source source_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
};

}  // namespace echoform
