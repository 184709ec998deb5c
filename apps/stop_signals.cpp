#include "apps/stop_signals.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include "base/errors.hpp"

namespace echoform {
namespace {

// Whom the process's signal is for.
struct Recipient {
  std::mutex mutex;
  std::stop_source* present = nullptr;
  bool was_there = false;    // the command has begun, and may have ended
  bool never_comes = false;  // the signal was first
};

Recipient& recipient() {
  static auto& one = *new Recipient;  // the thread below may be the last
  return one;
}

void take_first(const std::function<void(bool)>& on_signal) {
  Recipient& whom = recipient();
  {
    const std::lock_guard lock(whom.mutex);
    whom.never_comes = !whom.was_there;
  }
  on_signal(whom.never_comes);
  if (whom.never_comes) ::_exit(0);
  const std::lock_guard lock(whom.mutex);
  if (whom.present != nullptr) whom.present->request_stop();
}

[[noreturn]] void take_signals(int descriptor, const std::function<void(bool)>& on_signal) {
  pthread_setname_np(pthread_self(), "signals");
  for (bool first = true;;) {
    signalfd_siginfo signal{};
    if (::read(descriptor, &signal, sizeof signal) != sizeof signal) continue;
    if (!std::exchange(first, false)) ::_exit(128 + static_cast<int>(signal.ssi_signo));
    take_first(on_signal);
  }
}

struct Unbroken {
  std::mutex work;
  std::atomic<bool> ending = false;  // a signal waits for `work`, which whoever has it could else take again and again
};

Unbroken& unbroken() {
  static auto& one = *new Unbroken;  // the thread below may be the last
  return one;
}

[[noreturn]] void end_by_the_first(sigset_t signals) {
  pthread_setname_np(pthread_self(), "signals");
  for (;;) {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0) continue;
    // Never unlocked again: nothing is begun that would be broken off.
    unbroken().ending = true;
    unbroken().work.lock();
    std::signal(signal, SIG_DFL);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
    std::raise(signal);
  }
}

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
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

void watch_signals(const HeldSignals& held, std::function<void(bool)> on_signal) {
  // One that is there already comes before all that the command does, whenever the thread below is given its turn.
  const timespec now{};
  if (sigtimedwait(&held.set(), nullptr, &now) > 0) take_first(on_signal);
  const int descriptor = ::signalfd(-1, &held.set(), SFD_CLOEXEC);
  if (descriptor < 0) throw RuntimeFault(fmt::format("signals cannot be watched: {}", std::strerror(errno)));
  try {
    std::thread([descriptor, call = std::move(on_signal)] { take_signals(descriptor, call); }).detach();
  } catch (const std::system_error& error) {
    ::close(descriptor);
    throw RuntimeFault(fmt::format("signals cannot be watched: {}", error.what()));
  }
}

void end_by_signals(const HeldSignals& held) {
  // What whoever started this ignores, as a shell does for what runs in the background, ends no program; while it is blocked the
  // system would hand it to the thread all the same.
  sigset_t ending = held.set();
  for (const int signal : {SIGINT, SIGTERM}) {
    if (is_ignored(signal)) sigdelset(&ending, signal);
  }
  try {
    std::thread(end_by_the_first, ending).detach();
  } catch (const std::system_error& error) {
    throw RuntimeFault(fmt::format("signals cannot be watched: {}", error.what()));
  }
}

UnbrokenWork::UnbrokenWork() {
  while (unbroken().ending) ::pause();  // the process is about to end
  unbroken().work.lock();
}

UnbrokenWork::~UnbrokenWork() {
  unbroken().work.unlock();
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
