// SIGINT, SIGTERM and SIGHUP as requests to stop, at any time of the program's life.
#pragma once

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <functional>
#include <mutex>
#include <stop_token>

namespace echoform {

/// Blocks the signals that ask for an end in this thread, and in the threads that it starts. The signals wait until they are
/// unblocked or watch_signals() takes them. Construct it first of all in a program, before there are threads. SIGHUP stays
/// ignored where it is ignored already (nohup).
class HeldSignals {
 public:
  HeldSignals();
  /// Unblocks the signals for this thread. By default they then end the process.
  void release() const noexcept;
  [[nodiscard]] const sigset_t& set() const noexcept { return set_; }

 private:
  sigset_t set_;
  sigset_t before_;
};

/// Signals closer together than this are one request. Whoever asks a process to end may signal it twice at once: `timeout`
/// of coreutils signals the process and then its group, and a terminal that closes signals both the shell and the programs
/// that the shell runs. Nobody presses Ctrl-C twice that fast.
inline constexpr std::chrono::milliseconds one_request{500};

/// Starts a thread that takes the held signals for the rest of the process's life; for a command that ends in order. The
/// first signal calls `on_signal`, whose argument states whether the process ends at once, and then requests a stop from the
/// existing StopSignals. Before a StopSignals exists, nothing has been made that must end in order. The process then ends at
/// once, with `code_before`, so that nobody waits for a slow start of a command. A second signal ends the process at once,
/// with 128 and its number as exit code, and removes every TemporaryPath. A signal within `one_request` of the first counts
/// as the same request. Throws RuntimeFault where the system has no descriptor or thread for it.
void watch_signals(const HeldSignals& held, int code_before, std::function<void(bool at_once, int signal)> on_signal);

/// Ends a command that makes something and does not check for a stop request meanwhile. As long as this object lives, the
/// first of the held signals (except ignored ones) removes every TemporaryPath, calls `on_signal` and ends the process with
/// `code`. Throws RuntimeFault where the system has no thread for it.
class EndBySignals {
 public:
  EndBySignals(const HeldSignals& held, int code, std::function<void(int signal)> on_signal);
  /// Called when the command has come to its end. Does not return where a signal came first.
  ~EndBySignals();
  EndBySignals(const EndBySignals&) = delete;
  EndBySignals& operator=(const EndBySignals&) = delete;
};

/// Turns the signal into a stop request: while this object exists, the first signal requests a stop, and the command ends in
/// order. Only one object may exist at a time.
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
