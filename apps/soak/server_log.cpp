#include "apps/soak/server_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/errors.hpp"

namespace echoform::soak {
namespace {

/// The byte that fills the pipe. It is left out of the file.
constexpr char filler = '\0';

}  // namespace

ServerLog::ServerLog(std::filesystem::path file) : path_(std::move(file)) {
  std::array<int, 2> ends{-1, -1};
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file_ >= 0 && ::pipe2(ends.data(), O_CLOEXEC) == 0) wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  reading_end_ = ends[0];
  writing_end_ = ends[1];
  if (wake_ < 0) {
    const int fault = errno;
    for (const int descriptor : {file_, reading_end_, writing_end_}) {
      if (descriptor >= 0) ::close(descriptor);
    }
    throw RuntimeFault(fmt::format("cannot write {}: {}", path_.string(), std::strerror(fault)));
  }
  thread_ = std::jthread([this] { run(); });
}

ServerLog::~ServerLog() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    unread_ = false;
  }
  changed_.notify_all();
  wake();
  thread_.join();
  close_writing_end();
  for (const int descriptor : {file_, reading_end_, wake_}) ::close(descriptor);
}

void ServerLog::close_writing_end() {
  if (writing_end_ >= 0) ::close(std::exchange(writing_end_, -1));
}

void ServerLog::wake() {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(wake_, &one, sizeof(one)));
}

void ServerLog::fill() const {
  // The pipe is opened again for a file description of its own, so that the server's end does not become non-blocking.
  const int into = ::open(fmt::format("/proc/self/fd/{}", reading_end_).c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (into < 0) throw RuntimeFault(fmt::format("cannot fill the server's log: {}", std::strerror(errno)));
  const std::string bytes(4096, filler);
  for (std::size_t size = bytes.size(); size > 0;) {
    if (::write(into, bytes.data(), size) < 0 && errno != EINTR) size /= 2;
  }
  ::close(into);
}

void ServerLog::leave_unread() {
  std::unique_lock lock(mutex_);
  unread_ = true;
  wake();
  changed_.wait(lock, [this] { return idle_ || ended_; });
  if (!ended_) fill();
}

void ServerLog::resume() {
  {
    const std::lock_guard lock(mutex_);
    unread_ = false;
  }
  changed_.notify_all();
}

std::size_t ServerLog::count(std::string_view text) const {
  std::ifstream log(path_);
  std::size_t lines = 0;
  for (std::string line; std::getline(log, line);) lines += line.find(text) != std::string::npos ? 1 : 0;
  return lines;
}

std::string ServerLog::last_line() {
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(5), [this] { return ended_; });
  }
  std::ifstream log(path_);
  std::string last = "no word of it";
  for (std::string line; std::getline(log, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

void ServerLog::run() {
  std::array<char, 4096> buffer;
  for (bool over = false; !over;) {
    {
      std::unique_lock lock(mutex_);
      idle_ = true;
      changed_.notify_all();
      changed_.wait(lock, [this] { return !unread_; });
      idle_ = false;
    }
    std::array<pollfd, 2> waiting{pollfd{reading_end_, POLLIN, 0}, pollfd{wake_, POLLIN, 0}};
    static_cast<void>(::poll(waiting.data(), waiting.size(), -1));
    std::uint64_t calls = 0;
    if (waiting[1].revents != 0) static_cast<void>(!::read(wake_, &calls, sizeof(calls)));
    if (waiting[0].revents == 0) {
      const std::lock_guard lock(mutex_);
      over = stopping_;
      continue;
    }
    const ssize_t got = ::read(reading_end_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    over = got <= 0;
    char* const end = std::remove(buffer.data(), buffer.data() + std::max<ssize_t>(got, 0), filler);
    for (const char* at = buffer.data(); at < end;) {
      const ssize_t written = ::write(file_, at, static_cast<std::size_t>(end - at));
      if (written < 0 && errno != EINTR) break;  // a full disk: the run continues without its log
      at += std::max<ssize_t>(written, 0);
    }
  }
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

}  // namespace echoform::soak
