#include "apps/text_output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>

namespace echoform {
namespace {

// Minimum number of bytes that a terminal takes when poll() reports that it can be written to.
constexpr std::size_t terminal_room = 256;

}  // namespace

TextOutput::TextOutput(int descriptor) noexcept : descriptor_(descriptor), patience_(Time::max().time_since_epoch().count()) {
  struct stat state {};
  if (::fstat(descriptor, &state) != 0) return;  // closed: every write fails
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  socket_ = S_ISSOCK(state.st_mode);
  const bool pipe = S_ISFIFO(state.st_mode), terminal = ::isatty(descriptor) == 1;
  if (!pipe && !terminal) return;
  // Whether writing blocks is a flag of the open file, which other processes share: a shell shares its terminal, for example. So
  // the file is opened again, which fails where it belongs to another user.
  const auto path = fmt::format("/proc/self/fd/{}", descriptor);
  own_ = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  waits_ = own_ < 0;
  most_ = pipe ? std::size_t{PIPE_BUF} : terminal_room;
}

TextOutput::~TextOutput() {
  for (const int descriptor : {own_, wake_}) {
    if (descriptor >= 0) ::close(descriptor);
  }
}

bool TextOutput::write(std::string_view text) noexcept {
  // Another thread may be inside, and be blocked there for good if `waits_`.
  std::unique_lock lock(mutex_, std::defer_lock);
  while (!lock.owns_lock()) {
    const Time end{std::chrono::steady_clock::duration(patience_.load())};
    if (!lock.try_lock_until(std::min(end, std::chrono::steady_clock::now() + std::chrono::milliseconds(50))) &&
        std::chrono::steady_clock::now() >= end)
      return false;
  }
  return write_locked(text);
}

bool TextOutput::write_locked(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::ptrdiff_t done = put(text);
    if (done > 0) {
      text.remove_prefix(static_cast<std::size_t>(done));
    } else if (done == 0 || (errno != EAGAIN && errno != EINTR)) {
      return false;
    } else if (errno == EAGAIN && !wait_for_room()) {
      return false;
    }
  }
  return true;
}

/// Works like write(2): EAGAIN where there is no space.
std::ptrdiff_t TextOutput::put(std::string_view text) noexcept {
  if (socket_) return ::send(descriptor_, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (own_ >= 0) return ::write(own_, text.data(), text.size());
  if (waits_) {
    pollfd place{descriptor_, POLLOUT, 0};
    if (::poll(&place, 1, 0) == 0) {
      errno = EAGAIN;
      return -1;
    }
    text = text.substr(0, most_);
  }
  return ::write(descriptor_, text.data(), text.size());
}

/// False once the patience has ended.
bool TextOutput::wait_for_room() noexcept {
  for (;;) {
    const Time end{std::chrono::steady_clock::duration(patience_.load())};
    int milliseconds = -1;
    if (end != Time::max()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
      if (left.count() <= 0) return false;
      milliseconds = static_cast<int>(std::min<std::chrono::milliseconds::rep>(left.count(), INT_MAX));
    }
    if (wake_ < 0 && (milliseconds < 0 || milliseconds > 50)) milliseconds = 50;
    std::array<pollfd, 2> places{{{own_ >= 0 ? own_ : descriptor_, POLLOUT, 0}, {wake_, POLLIN, 0}}};
    if (::poll(places.data(), places.size(), milliseconds) < 0 && errno != EINTR) return false;
    if (places[1].revents != 0) {
      std::uint64_t count = 0;
      [[maybe_unused]] const auto read = ::read(wake_, &count, sizeof count);
    }
    if (places[0].revents != 0) return true;
  }
}

void TextOutput::give_up_at(Time time) noexcept {
  const Time::rep wanted = time.time_since_epoch().count();
  Time::rep patience = patience_.load();
  while (wanted < patience && !patience_.compare_exchange_weak(patience, wanted)) {
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);
}

TextOutput& standard_output() noexcept {
  static auto& output = *new TextOutput(STDOUT_FILENO);
  return output;
}

TextOutput& standard_error() noexcept {
  static auto& output = *new TextOutput(STDERR_FILENO);
  return output;
}

}  // namespace echoform
