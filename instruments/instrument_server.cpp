#include "instruments/instrument_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <thread>

#include "base/errors.hpp"
#include "base/host_port.hpp"

namespace echoform {
namespace {

constexpr int tick = 100;  // ms

SteadyTime steady_now() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

/// Events that poll() reports for the descriptor within `time`, which may be shorter than a millisecond.
short poll_one(int place, short events, std::chrono::nanoseconds time) {
  pollfd asked{place, events, 0};
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  const timespec wait{static_cast<time_t>(seconds.count()), static_cast<long>((time - seconds).count())};
  return ::ppoll(&asked, 1, &wait, nullptr) > 0 ? asked.revents : short{0};
}

}  // namespace

InstrumentServer::InstrumentServer(const std::string& address, std::uint16_t port, SimulatedPeer& instrument)
    : instrument_(instrument) {
  const std::string place = host_port_text(address, port);
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failure = ::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failure != 0)
    throw InputError("--listen", fmt::format("\"{}\"", place), "an IPv4 or IPv6 address of this machine, and a port");
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> kept(found, ::freeaddrinfo);
  listener_ = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int one = 1;
  if (listener_ >= 0) ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (listener_ < 0 || ::bind(listener_, found->ai_addr, found->ai_addrlen) != 0 || ::listen(listener_, 4) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    const int error = errno;
    if (listener_ >= 0) ::close(listener_);
    throw RuntimeFault(fmt::format("{}: cannot listen: {}", place, std::strerror(error)));
  }
  // The port stands at the same place in addresses of both families.
  port_ = ntohs(reinterpret_cast<const sockaddr_in&>(bound).sin_port);
}

InstrumentServer::~InstrumentServer() {
  ::close(listener_);
}

void InstrumentServer::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (poll_one(listener_, POLLIN, std::chrono::milliseconds(tick)) == 0) continue;
    const int peer = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (peer < 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(tick));  // descriptors are probably exhausted
      continue;
    }
    const int one = 1;
    ::setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    spdlog::info("somebody has connected");
    instrument_.greet();
    serve(peer, stop);
    ::close(peer);
    spdlog::info("the connection has ended after {} frames in all", instrument_.frames());
  }
}

void InstrumentServer::serve(int peer, const std::stop_token& stop) {
  std::array<char, 1 << 16> heard{};
  std::size_t sent = 0;  // bytes of the outbox that have been sent
  bool behind = false;   // the instrument has commands that it has not carried out yet
  std::string doubt = instrument_.doubt();
  while (!stop.stop_requested()) {
    auto& outbox = instrument_.outbox;
    if (sent == outbox.size()) {
      outbox.clear();
      sent = 0;
    }
    std::chrono::nanoseconds wait = std::chrono::milliseconds(tick);
    if (outbox.empty()) {
      if (const auto due = instrument_.due()) {
        const SteadyTime now = steady_now();
        if (*due <= now)
          instrument_.speak(now);
        else
          wait = std::min(wait, *due - now);
      }
    }
    const bool sending = !outbox.empty();
    if (!sending && instrument_.hangs_up()) return;
    // The output of a cycle may be larger than the limit, so STX is received between one cycle and the next.
    const bool room = outbox.size() - sent < SimulatedPeer::most_unsent;
    const bool hearing = !behind && room;
    if (behind && room) wait = {};
    const short ready = poll_one(peer, static_cast<short>((hearing ? POLLIN : 0) | (sending ? POLLOUT : 0)), wait);
    if ((ready & POLLOUT) != 0 && sending) {
      const auto bytes = ::send(peer, outbox.data() + sent, outbox.size() - sent, MSG_NOSIGNAL);
      if (bytes > 0)
        sent += static_cast<std::size_t>(bytes);
      else if (bytes < 0 && errno != EAGAIN && errno != EINTR)
        return;
    }
    if (behind && room) {
      outbox.erase(outbox.begin(), outbox.begin() + static_cast<std::ptrdiff_t>(sent));
      sent = 0;
      behind = instrument_.hear({}, steady_now());
    } else if (!behind && (ready & (POLLIN | POLLERR | POLLHUP)) != 0) {
      const auto bytes = ::recv(peer, heard.data(), heard.size(), 0);
      if (bytes == 0 || (bytes < 0 && errno != EAGAIN && errno != EINTR)) return;
      if (bytes > 0) behind = instrument_.hear({heard.data(), static_cast<std::size_t>(bytes)}, steady_now());
      if (instrument_.doubt() != doubt) {
        doubt = instrument_.doubt();
        spdlog::warn("{}", doubt);
      }
    }
  }
}

}  // namespace echoform
