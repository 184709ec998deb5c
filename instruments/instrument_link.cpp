#include "instruments/instrument_link.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/errors.hpp"
#include "base/host_port.hpp"

namespace echoform {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// The longest time for which a request to stop may go unnoticed.
constexpr milliseconds most_unheeding{100};

/// Argument of poll(), ms. It is at least 1 ms while time is left, so that the rest of a time is not spent spinning.
int to_wait(steady_clock::time_point until) {
  const auto left = std::chrono::duration_cast<milliseconds>(until - steady_clock::now()).count();
  return static_cast<int>(left < 0 ? 0 : left + 1);
}

std::string system_words(int error) {
  std::array<char, 256> text{};
  return strerror_r(error, text.data(), text.size());
}

/// Waits until the socket is connected or has failed, the time is over, or the bell is rung. True if it is connected or has
/// failed.
bool connected(int socket, const WakeBell& bell, steady_clock::time_point until) {
  std::array<pollfd, 2> places{{{socket, POLLOUT, 0}, {bell.descriptor(), POLLIN, 0}}};
  while (steady_clock::now() < until) {
    const int ready = ::poll(places.data(), places.size(), to_wait(until));
    if (ready < 0 && errno == EINTR) continue;
    return ready > 0 && places[0].revents != 0;
  }
  return false;
}

}  // namespace

InstrumentLink::InstrumentLink(const std::string& host, std::uint16_t port, milliseconds time, const WakeBell& bell,
                               const std::atomic<bool>& stopping)
    : bell_(bell), stopping_(stopping), name_(host_port_text(host, port)) {
  const auto until = steady_clock::now() + time;
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failure = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failure != 0) throw RuntimeFault(fmt::format("{}: {}", name_, ::gai_strerror(failure)));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> kept(found, ::freeaddrinfo);
  int error = ETIMEDOUT;
  for (const addrinfo* place = found; place != nullptr; place = place->ai_next) {
    socket_ = ::socket(place->ai_family, place->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, place->ai_protocol);
    if (socket_ < 0) {
      error = errno;
      continue;
    }
    if (::connect(socket_, place->ai_addr, place->ai_addrlen) == 0) {
      error = 0;
    } else if (errno != EINPROGRESS) {
      error = errno;
    } else if (!connected(socket_, bell_, until)) {
      error = ETIMEDOUT;
    } else {
      socklen_t size = sizeof error;
      ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size);
    }
    if (error == 0) break;
    ::close(socket_);
    socket_ = -1;
  }
  if (socket_ < 0) throw RuntimeFault(fmt::format("{}: cannot connect: {}", name_, system_words(error)));
  const int one = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  ::setsockopt(socket_, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
}

InstrumentLink::~InstrumentLink() {
  if (socket_ >= 0) ::close(socket_);
}

void InstrumentLink::send(std::string_view text, milliseconds time) {
  const auto begin = steady_clock::now();
  while (!text.empty()) {
    const auto sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      text.remove_prefix(static_cast<std::size_t>(sent));
      continue;
    }
    if (errno != EAGAIN && errno != EINTR) throw RuntimeFault(fmt::format("{}: {}", name_, system_words(errno)));
    // A link that must stop waits only for the last command, and not for long.
    const auto until = begin + (stopping_ ? std::min(time, most_unheeding) : time);
    if (steady_clock::now() >= until) throw RuntimeFault(fmt::format("{}: takes no commands", name_));
    pollfd place{socket_, POLLOUT, 0};
    [[maybe_unused]] const int ready = ::poll(&place, 1, to_wait(std::min(until, steady_clock::now() + most_unheeding)));
  }
}

std::optional<std::size_t> InstrumentLink::receive(std::span<std::byte> place) {
  for (;;) {
    const auto got = ::recv(socket_, place.data(), place.size(), 0);
    if (got > 0) return static_cast<std::size_t>(got);
    if (got == 0) throw RuntimeFault(fmt::format("{}: the instrument closed the connection", name_));
    if (errno == EAGAIN) return std::nullopt;
    if (errno != EINTR) throw RuntimeFault(fmt::format("{}: {}", name_, system_words(errno)));
  }
}

void InstrumentLink::wait(milliseconds time) {
  std::array<pollfd, 2> places{{{socket_, POLLIN, 0}, {bell_.descriptor(), POLLIN, 0}}};
  [[maybe_unused]] const int ready = ::poll(places.data(), places.size(), static_cast<int>(time.count()));
  if (places[1].revents != 0) bell_.silence();
}

}  // namespace echoform
