#include "apps/stop_signals.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/errors.hpp"
#include "base/temporary_path.hpp"

namespace echoform {
namespace {

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// Lets signals end the process at once. A process that is about to end calls this, because its last steps may take for ever,
/// on a disk that does not answer.
void let_signals_end_the_process() noexcept {
  sigset_t all;
  sigemptyset(&all);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (is_ignored(signal)) continue;
    std::signal(signal, SIG_DFL);
    sigaddset(&all, signal);
  }
  pthread_sigmask(SIG_UNBLOCK, &all, nullptr);
}

// The object that receives the signal of the process.
struct Recipient {
  std::mutex mutex;
  std::stop_source* present = nullptr;
  bool was_there = false;    // the command has begun, and may have ended
  bool never_comes = false;  // the signal came before the command began
};

Recipient& recipient() {
  static auto& one = *new Recipient;  // the thread below may outlive static objects
  return one;
}

void take_first(int signal, int code_before, const std::function<void(bool, int)>& on_signal) {
  Recipient& whom = recipient();
  {
    const std::lock_guard lock(whom.mutex);
    whom.never_comes = !whom.was_there;
  }
  if (whom.never_comes) remove_temporary_paths();
  on_signal(whom.never_comes, signal);
  if (whom.never_comes) ::_exit(code_before);
  const std::lock_guard lock(whom.mutex);
  if (whom.present != nullptr) whom.present->request_stop();
}

[[noreturn]] void take_signals(int descriptor, int code_before, const std::function<void(bool, int)>& on_signal) {
  pthread_setname_np(pthread_self(), "signals");
  std::optional<std::chrono::steady_clock::time_point> first;
  for (;;) {
    signalfd_siginfo taken{};
    if (::read(descriptor, &taken, sizeof taken) != sizeof taken) continue;
    const auto signal = static_cast<int>(taken.ssi_signo);
    const auto now = std::chrono::steady_clock::now();
    if (first && now - *first < one_request) continue;
    if (first) {
      let_signals_end_the_process();
      remove_temporary_paths();
      ::_exit(128 + signal);
    }
    first = now;
    take_first(signal, code_before, on_signal);
  }
}

/// The right to end the process: a signal or the command itself takes it. The first one keeps it for good.
std::mutex& process_end() {
  static auto& one = *new std::mutex;  // the thread below may outlive static objects
  return one;
}

[[noreturn]] void end_by_the_first(sigset_t signals, int code, const std::function<void(int)>& on_signal) {
  pthread_setname_np(pthread_self(), "signals");
  int signal = 0;
  while (sigwait(&signals, &signal) != 0) {
  }
  process_end().lock();
  let_signals_end_the_process();
  remove_temporary_paths();
  on_signal(signal);
  ::_exit(code);
}

}  // namespace

HeldSignals::HeldSignals() {
  sigemptyset(&set_);
  sigaddset(&set_, SIGINT);
  sigaddset(&set_, SIGTERM);
  if (!is_ignored(SIGHUP)) sigaddset(&set_, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &set_, &before_);
}

void HeldSignals::release() const noexcept {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void watch_signals(const HeldSignals& held, int code_before, std::function<void(bool, int)> on_signal) {
  // A signal that is already pending is handled before anything that the command does, no matter when the thread below runs.
  const timespec now{};
  if (const int signal = sigtimedwait(&held.set(), nullptr, &now); signal > 0) take_first(signal, code_before, on_signal);
  const int descriptor = ::signalfd(-1, &held.set(), SFD_CLOEXEC);
  if (descriptor < 0) throw RuntimeFault(fmt::format("signals cannot be watched: {}", std::strerror(errno)));
  try {
    std::thread([descriptor, code_before, call = std::move(on_signal)] { take_signals(descriptor, code_before, call); }).detach();
  } catch (const std::system_error& error) {
    ::close(descriptor);
    throw RuntimeFault(fmt::format("signals cannot be watched: {}", error.what()));
  }
}

EndBySignals::EndBySignals(const HeldSignals& held, int code, std::function<void(int)> on_signal) {
  // Signals that the parent process ignores must not end the program; a shell does so for commands in the background. While such
  // a signal is blocked, the system would still deliver it to the thread.
  sigset_t ending = held.set();
  for (const int signal : {SIGINT, SIGTERM}) {
    if (is_ignored(signal)) sigdelset(&ending, signal);
  }
  try {
    std::thread([ending, code, call = std::move(on_signal)] { end_by_the_first(ending, code, call); }).detach();
  } catch (const std::system_error& error) {
    throw RuntimeFault(fmt::format("signals cannot be watched: {}", error.what()));
  }
}

EndBySignals::~EndBySignals() {
  process_end().lock();  // never unlocked: a signal that comes now is too late
}

StopSignals::StopSignals() {
  Recipient& whom = recipient();
  std::unique_lock lock(whom.mutex);
  if (whom.never_comes) {
    lock.unlock();
    for (;;) ::pause();  // the process is about to end
  }
  whom.present = &source_;
  whom.was_there = true;
}

StopSignals::~StopSignals() {
  Recipient& whom = recipient();
  const std::lock_guard lock(whom.mutex);
  whom.present = nullptr;
}

bool StopSignals::wait_for(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  const std::stop_token stop = source_.get_token();
  changed_.wait_for(lock, stop, time, [] { return false; });
  return stop.stop_requested();
}

}  // namespace echoform
