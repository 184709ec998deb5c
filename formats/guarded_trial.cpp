#include "formats/guarded_trial.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
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

#include "base/errors.hpp"
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

void write_all(int to, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t done = ::write(to, text.data() + at, text.size() - at);
    if (done <= 0) return;
    at += static_cast<std::size_t>(done);
  }
}

[[noreturn]] void run_child(int to, const std::function<void()>& trial, const TrialLimits& limits) {
  // A crash is an answer here: no core file, no message of the C library, no handler of the parent.
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU, SIGPIPE, SIGINT, SIGTERM})
    ::signal(signal, SIG_DFL);
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
  write_all(to, answer);
  ::_exit(0);
}

}  // namespace

void try_in_child(const std::string& where, const std::function<void()>& trial, const TrialLimits& limits) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw RuntimeFault(fmt::format("{}: cannot be tried: {}", where, std::strerror(errno)));
  const pid_t child = ::fork();
  if (child < 0) {
    const int reason = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    throw RuntimeFault(fmt::format("{}: cannot be tried: {}", where, std::strerror(reason)));
  }
  if (child == 0) {
    ::close(ends[0]);
    run_child(ends[1], trial, limits);
  }
  ::close(ends[1]);
  std::string answer;
  std::array<char, 1024> piece{};
  const auto deadline = std::chrono::steady_clock::now() + limits.wall_time;
  bool late = false;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd wait{ends[0], POLLIN, 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(left.count(), 0, 60'000)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) {
      if (left.count() > 0) continue;
      ::kill(child, SIGKILL);
      late = true;
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
  if (late) throw InputError(where, "damage that makes the library stand still", "a whole file");
  if (answer.empty()) throw InputError(where, "damage that makes the library fail", "a whole file");
  if (answer.front() == answer_no_memory) {
    throw InputError(where, fmt::format("data that take more than {} MiB to read", limits.memory >> 20),
                     "sizes that fit the file");
  }
  if (answer.front() == answer_refused) throw InputError(answer.substr(1));
}

}  // namespace echoform::formats
