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

// The shadow memory of these sanitizers is more than any limit on the address space.
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
  // Nobody waits for an answer whose parent has ended, and what both have open stays open as long.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
  // A crash is an answer here: no core file, no message of the C library, no handler of the parent.
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU, SIGPIPE, SIGINT, SIGTERM})
    ::signal(signal, SIG_DFL);
  // The program may hold back what asks for its end; the trial has nothing to bring to one.
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC); null >= 0) {
    ::dup2(null, STDOUT_FILENO);
    ::dup2(null, STDERR_FILENO);
  }
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, limits.processor_seconds * (sanitized ? 10U : 1U));  // sanitized code is slower so many times, or less
  if (!sanitized) limit(RLIMIT_AS, address_space() + limits.memory);
  std::string answer(1, answer_good);
  try {
    trial();
  } catch (const std::bad_alloc&) {
    answer = answer_no_memory;
  } catch (const std::exception& error) {
    answer = answer_refused + std::string(error.what());
  }
  static_cast<void>(write_all(to, std::as_bytes(std::span(answer))));  // nobody may be there any more
  ::_exit(0);
}

/// What a process is about: 'S' where it sleeps, the processor's ticks that it has had, and how often it began to wait.
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

/// A child that was made while another thread of its parent held a lock waits for it for ever: nobody holds it in the copy. The C
/// library's own locks are free in a child; a sanitizer's, HDF5's or the log's are not.
class Standstill {
 public:
  explicit Standstill(pid_t child) : child_(child) {}
  /// How long to wait before the next look.
  static constexpr std::chrono::milliseconds pause{500};

  /// Whether it has slept through all of some looks. Whoever reads a slow file wakes and waits again.
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

/// Ends at a standstill too, but for the `last` attempt.
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
