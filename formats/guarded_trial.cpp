#include "formats/guarded_trial.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <new>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

#include "base/errors.hpp"
#include "base/file_descriptor.hpp"
#include "base/sanitizers.hpp"

namespace echoform::formats {
namespace {

// The child's answer: one of these, then the line of an error.
constexpr char answer_good = 'G';
constexpr char answer_refused = 'R';
constexpr char answer_no_memory = 'M';

// The shadow memory of these sanitizers exceeds any limit on the address space.
constexpr bool sanitized = ECHOFORM_ADDRESS_SANITIZER || ECHOFORM_THREAD_SANITIZER;

std::size_t address_space() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

void limit(__rlimit_resource resource, std::size_t value) {
  rlimit current{};
  if (::getrlimit(resource, &current) != 0) return;
  current.rlim_cur = std::min<rlim_t>(value, current.rlim_max);
  ::setrlimit(resource, &current);
}

[[noreturn]] void run_child(int to, pid_t parent, const std::function<void()>& trial, const TrialLimits& limits) {
  // If the parent has ended, nobody waits for the answer, and files open in both would stay open as long as the child lives.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
  // A crash is an answer here. So it leaves no core file, prints no message of the C library, and runs no handler of the parent.
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU, SIGPIPE, SIGINT, SIGTERM})
    ::signal(signal, SIG_DFL);
  // The program may block the signals that end it. The trial has nothing to finish before it ends.
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC); null >= 0) {
    ::dup2(null, STDOUT_FILENO);
    ::dup2(null, STDERR_FILENO);
  }
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, limits.processor_seconds * (sanitized ? 10U : 1U));  // sanitized code is slower by at most this factor
  if (!sanitized) limit(RLIMIT_AS, address_space() + limits.memory);
  std::string answer(1, answer_good);
  try {
    trial();
  } catch (const std::bad_alloc&) {
    answer = answer_no_memory;
  } catch (const std::exception& error) {
    answer = answer_refused + std::string(error.what());
  }
  static_cast<void>(write_all(to, std::as_bytes(std::span(answer))));  // the parent may be gone
  ::_exit(0);
}

/// Activity of a process: its state ('S' while it sleeps), the processor ticks that it used, and how often it began to wait.
struct Activity {
  char state = '?';
  unsigned long long ticks = 0;
  unsigned long long waits = 0;

  bool operator==(const Activity&) const = default;
};

Activity activity_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text;
  std::getline(file, text);
  const std::size_t name = text.rfind(')');
  if (name == std::string::npos) return {};
  std::istringstream rest(text.substr(name + 1));
  Activity activity;
  rest >> activity.state;
  std::string skipped;
  for (int field = 4; field < 14; ++field) rest >> skipped;  // proc(5): utime is the 14th, stime the next
  unsigned long long user = 0;
  unsigned long long system = 0;
  rest >> user >> system;
  activity.ticks = user + system;
  std::ifstream status(fmt::format("/proc/{}/status", process));
  constexpr std::string_view key = "voluntary_ctxt_switches:";
  while (std::getline(status, text)) {
    if (text.starts_with(key)) std::istringstream(text.substr(key.size())) >> activity.waits;
  }
  return activity;
}

/// Detects a child that was forked while another thread of its parent held a lock. No thread of the child holds that lock, so the
/// child waits for it for ever. The C library's own locks are free in a child; those of a sanitizer, HDF5 or the log are not.
class Standstill {
 public:
  explicit Standstill(pid_t child) : child_(child) {}
  /// Pause before the next look.
  static constexpr std::chrono::milliseconds pause{500};

  /// Whether the child has slept through all of several looks. A process that reads a slow file wakes and waits again.
  [[nodiscard]] bool seen() {
    const Activity now = activity_of(child_);
    looks_ = now.state == 'S' && now == last_ ? looks_ + 1 : 0;
    last_ = now;
    return looks_ >= 6;
  }

 private:
  pid_t child_;
  Activity last_;
  int looks_ = 0;
};

enum class TrialEnd { answered, late, stands_still };

/// Ends also when the child stands still, except in the `last` attempt.
TrialEnd try_once(const std::string& where, const std::function<void()>& trial, const TrialLimits& limits, bool last,
                  std::string& answer) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw RuntimeFault(fmt::format("{}: cannot be tried: {}", where, std::strerror(errno)));
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    const int reason = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    throw RuntimeFault(fmt::format("{}: cannot be tried: {}", where, std::strerror(reason)));
  }
  if (child == 0) {
    ::close(ends[0]);
    run_child(ends[1], parent, trial, limits);
  }
  ::close(ends[1]);
  std::array<char, 1024> piece{};
  const auto deadline = std::chrono::steady_clock::now() + limits.wall_time;
  Standstill standstill(child);
  TrialEnd end = TrialEnd::answered;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd wait{ends[0], POLLIN, 0};
    const auto next_look = std::clamp<std::chrono::milliseconds::rep>(left.count(), 0, Standstill::pause.count());
    const int ready = ::poll(&wait, 1, static_cast<int>(next_look));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) {
      const bool stands = !last && standstill.seen();
      if (left > Standstill::pause && !stands) continue;
      ::kill(child, SIGKILL);
      end = stands ? TrialEnd::stands_still : TrialEnd::late;
      break;
    }
    const ssize_t count = ::read(ends[0], piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    answer.append(piece.data(), static_cast<std::size_t>(count));
  }
  ::close(ends[0]);
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return end;
}

}  // namespace

void try_in_child(const std::string& where, const std::function<void()>& trial, const TrialLimits& limits) {
  std::string answer;
  TrialEnd end = TrialEnd::stands_still;
  constexpr int attempts = 5;
  for (int attempt = 1; attempt <= attempts && end == TrialEnd::stands_still; ++attempt) {
    answer.clear();
    end = try_once(where, trial, limits, attempt == attempts, answer);
  }
  if (end != TrialEnd::answered) throw InputError(where, "damage that makes the library stand still", "a whole file");
  if (answer.empty()) throw InputError(where, "damage that makes the library fail", "a whole file");
  if (answer.front() == answer_no_memory) {
    throw InputError(where, fmt::format("data that take more than {} MiB to read", limits.memory >> 20),
                     "sizes that fit the file");
  }
  if (answer.front() == answer_refused) throw InputError(answer.substr(1));
}

}  // namespace echoform::formats
