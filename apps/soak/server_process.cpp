#include "apps/soak/server_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <thread>

#include "base/errors.hpp"

namespace echoform::soak {
namespace {

constexpr std::chrono::seconds start_patience{60};

std::string how(int status) {
  if (WIFSIGNALED(status)) return fmt::format("signal {}", WTERMSIG(status));
  return fmt::format("exit code {}", WEXITSTATUS(status));
}

}  // namespace

ProcessFigures read_process(pid_t process) {
  const std::filesystem::path place = fmt::format("/proc/{}", process);
  std::ifstream status(place / "status");
  ProcessFigures figures;
  bool found = false;
  for (std::string line; std::getline(status, line);) {
    const auto value = [&](std::string_view key) -> std::optional<double> {
      if (!line.starts_with(key)) return std::nullopt;
      return std::strtod(line.c_str() + key.size(), nullptr);
    };
    if (const auto kib = value("VmRSS:")) figures.resident = 1024.0 * *kib;
    if (const auto kib = value("RssAnon:")) figures.memory += 1024.0 * *kib, found = true;
    if (const auto kib = value("VmSwap:")) figures.memory += 1024.0 * *kib;
    if (const auto count = value("Threads:")) figures.threads = *count;
  }
  std::error_code fault;
  for (std::filesystem::directory_iterator at(place / "fd", fault), end; !fault && at != end; at.increment(fault)) {
    figures.descriptors += 1.0;
  }
  if (!found || fault) throw RuntimeFault(fmt::format("the server's process {} is gone", process));
  return figures;
}

ServerProcess::ServerProcess(const std::vector<std::string>& arguments, const std::filesystem::path& log,
                             std::uint64_t descriptors)
    : log_(log) {
  std::array<int, 2> pipe_ends{};
  if (::pipe2(pipe_ends.data(), O_CLOEXEC) != 0) {
    throw RuntimeFault(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  std::vector<char*> words;
  std::string name = "echoform";
  words.push_back(name.data());
  std::vector<std::string> kept = arguments;
  for (std::string& word : kept) words.push_back(word.data());
  words.push_back(nullptr);
  const pid_t parent = ::getpid();
  process_ = ::fork();
  if (process_ == 0) {
    // Ctrl-C is meant for the soak, which then ends the server. The server must not outlive the soak.
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    ::dup2(pipe_ends[1], STDOUT_FILENO);
    ::dup2(log_.writing_end(), STDERR_FILENO);
    const rlimit limit{descriptors, descriptors};
    if (descriptors > 0 && ::setrlimit(RLIMIT_NOFILE, &limit) != 0) ::_exit(127);
    ::execv("/proc/self/exe", words.data());
    ::_exit(127);
  }
  log_.close_writing_end();
  ::close(pipe_ends[1]);
  output_ = pipe_ends[0];
  if (process_ < 0) throw RuntimeFault(fmt::format("cannot start the server: {}", std::strerror(errno)));

  // All addresses come in one write.
  const auto deadline = std::chrono::steady_clock::now() + start_patience;
  while (!address("telemetry")) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd waiting{output_, POLLIN, 0};
    std::array<char, 4096> buffer;
    const bool ready = left.count() > 0 && ::poll(&waiting, 1, static_cast<int>(left.count())) > 0;
    const ssize_t got = ready ? ::read(output_, buffer.data(), buffer.size()) : 0;
    if (got <= 0) throw RuntimeFault(fmt::format("the server did not start: {}", log_.last_line()));
    printed_.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

ServerProcess::~ServerProcess() {
  if (process_ > 0 && !ended()) {
    ::kill(process_, SIGKILL);
    int status = 0;
    ::waitpid(process_, &status, 0);
  }
  if (output_ >= 0) ::close(output_);
}

std::optional<HostPort> ServerProcess::address(std::string_view label) const {
  std::size_t at = 0;
  while (at < printed_.size()) {
    const auto end = printed_.find('\n', at);
    if (end == std::string::npos) return std::nullopt;
    std::string line = printed_.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(label) || line.size() <= label.size() || line[label.size()] != ' ') continue;
    line.erase(0, line.rfind(' ') + 1);
    if (const auto scheme = line.find("://"); scheme != std::string::npos) line.erase(0, scheme + 3);
    if (const auto path = line.find('/'); path != std::string::npos) line.resize(path);
    return parse_host_port(line, fmt::format("the server's address \"{}\"", label));
  }
  return std::nullopt;
}

std::optional<std::string> ServerProcess::ended() {
  int status = 0;
  if (!ended_ && ::waitpid(process_, &status, WNOHANG) == process_) ended_ = how(status);
  return ended_;
}

bool ServerProcess::ended_within(std::chrono::milliseconds time) {
  const auto deadline = std::chrono::steady_clock::now() + time;
  while (!ended()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

std::optional<std::string> ServerProcess::stop(std::chrono::seconds patience) {
  ::kill(process_, SIGTERM);
  if (!ended_within(patience)) return fmt::format("still running {} s after SIGTERM", patience.count());
  if (*ended_ != "exit code 0") return fmt::format("{}: {}", *ended_, log_.last_line());
  return std::nullopt;
}

}  // namespace echoform::soak
