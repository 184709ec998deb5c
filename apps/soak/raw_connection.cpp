#include "apps/soak/raw_connection.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/errors.hpp"
#include "base/host_port.hpp"

namespace echoform::soak {
namespace {

constexpr std::chrono::seconds send_patience{60};

}  // namespace

RawConnection::RawConnection(const HostPort& place, int receive_buffer) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(place.host.c_str(), std::to_string(place.port).c_str(), &hints, &found) != 0) {
    throw RuntimeFault(fmt::format("cannot find {}", place.host));
  }
  socket_ = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  // The size is set before connecting, so that the window never opens further.
  if (receive_buffer > 0) setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer));
  const int connected = socket_ < 0 ? -1 : ::connect(socket_, found->ai_addr, found->ai_addrlen);
  const int fault = errno;
  freeaddrinfo(found);
  if (connected != 0) {
    if (socket_ >= 0) ::close(socket_);
    throw RuntimeFault(fmt::format("cannot connect to {}:{}: {}", place.host, place.port, std::strerror(fault)));
  }
  const int yes = 1;
  setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  const timeval patience{send_patience.count(), 0};
  setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

RawConnection::~RawConnection() {
  if (socket_ >= 0) ::close(socket_);
}

RawConnection::RawConnection(RawConnection&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), sent_(std::exchange(other.sent_, 0)) {}

RawConnection& RawConnection::operator=(RawConnection&& other) noexcept {
  std::swap(socket_, other.socket_);
  std::swap(sent_, other.sent_);
  return *this;
}

bool RawConnection::send(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
  return true;
}

bool RawConnection::send_some(std::string_view over_and_over) {
  for (;;) {
    const std::string_view rest = over_and_over.substr(sent_ % over_and_over.size());
    const ssize_t sent = ::send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) return errno == EAGAIN || errno == EINTR;
    sent_ += static_cast<std::size_t>(sent);
    if (static_cast<std::size_t>(sent) < rest.size()) return true;
  }
}

void RawConnection::end_sending() {
  ::shutdown(socket_, SHUT_WR);
}

void RawConnection::reset() {
  const linger at_once{1, 0};
  setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  ::close(std::exchange(socket_, -1));
}

RawConnection::Outcome RawConnection::read(std::string& into, std::chrono::milliseconds timeout) {
  pollfd waiting{socket_, POLLIN, 0};
  if (::poll(&waiting, 1, static_cast<int>(timeout.count())) <= 0) return Outcome::silence;
  std::array<char, 65536> buffer;
  const ssize_t got = ::recv(socket_, buffer.data(), buffer.size(), 0);
  if (got < 0 && errno == EINTR) return Outcome::silence;
  if (got <= 0) return Outcome::closed;
  into.append(buffer.data(), static_cast<std::size_t>(got));
  return Outcome::bytes;
}

std::optional<std::string> RawConnection::read_to_end(std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  std::string all;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return std::nullopt;
    if (read(all, left) == Outcome::closed) return all;
  }
}

bool RawConnection::closed_by_peer() const {
  pollfd state{socket_, POLLRDHUP, 0};
  return ::poll(&state, 1, 0) > 0 && (state.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

HttpAnswer ask_http(const HostPort& place, std::string_view request, std::chrono::milliseconds patience) {
  RawConnection connection(place);
  // A server may answer and close before it has read the whole request.
  static_cast<void>(connection.send(request));
  const auto text = connection.read_to_end(patience);
  if (!text)
    throw RuntimeFault(fmt::format("{}:{} did not answer and close within {} ms", place.host, place.port, patience.count()));
  HttpAnswer answer;
  constexpr std::string_view begin = "HTTP/1.1 ";
  if (text->starts_with("HTTP/1.")) {
    std::from_chars(text->data() + begin.size(), text->data() + std::min(text->size(), begin.size() + 3), answer.status);
  }
  if (const auto body = text->find("\r\n\r\n"); body != std::string::npos) answer.body = text->substr(body + 4);
  return answer;
}

std::string http_request(const HostPort& place, std::string_view target, std::string_view token, std::string_view more_headers) {
  return fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\n{}{}\r\n", target, host_port_text(place.host, place.port),
                     token.empty() ? std::string() : fmt::format("Authorization: Bearer {}\r\n", token), more_headers);
}

}  // namespace echoform::soak
