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

/// For a command that runs until it is told to end: starts a thread that takes the held signals for the rest of the process's
/// life. The first one calls `on_signal`, which says whether the process ends at once; then it is for the StopSignals that there
/// is. Before there is one nothing has been made that must end in order, and the process ends, with exit code 0: nobody waits for
/// what takes long at a command's start. A second signal always ends the process at once, with 128 and its number as exit code.
/// RuntimeFault where the system has no descriptor or thread for it.
void watch_signals(const HeldSignals& held, std::function<void(bool at_once)> on_signal);

/// For a command that ends by a signal as any program does, but leaves nothing half-done: starts a thread that takes the held
/// signals but for those that are ignored, waits for the UnbrokenWork that there is, and lets the signal end the process.
/// RuntimeFault where the system has no thread for it.
void end_by_signals(const HeldSignals& held);

/// While one lives, on whichever thread, the process does not end by a signal of end_by_signals(). Short, as the writing of a
/// file.
class UnbrokenWork {
 public:
  UnbrokenWork();
  ~UnbrokenWork();
  UnbrokenWork(const UnbrokenWork&) = delete;
  UnbrokenWork& operator=(const UnbrokenWork&) = delete;
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
