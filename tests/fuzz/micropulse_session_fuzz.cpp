// A connection to something that answers as a MicroPulse would, or does not: the conversation of a source ends, with one line
// that says why, whatever comes and however it is cut.
//
// Input: a byte that says how the rest is cut, then the bytes that the instrument sends before it closes the connection.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>

#include "base/errors.hpp"
#include "base/wake_bell.hpp"
#include "instruments/micropulse/conversation.hpp"
#include "tests/fuzz/input.hpp"

namespace {

using namespace echoform;

/// Listens on a port of this host for as long as the program runs.
class Listener {
 public:
  Listener() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const at = reinterpret_cast<sockaddr*>(&address);
    fuzz::require(::bind(socket_, at, length) == 0 && ::listen(socket_, 16) == 0, "a port to listen on");
    fuzz::require(::getsockname(socket_, at, &length) == 0, "its number");
    port_ = ntohs(address.sin_port);
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] int accept() const { return ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC); }

 private:
  int socket_;
  std::uint16_t port_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Listener instrument;
  static const WakeBell bell("fuzzer");
  spdlog::set_level(spdlog::level::off);
  if (size > std::size_t{1} << 14) return 0;  // less than a socket's buffer: all of it is sent before anything is read
  fuzz::Input input(data, size);
  const auto cut = input.take<std::uint8_t>();

  micropulse::SourceOptions options;
  options.host = "127.0.0.1";
  options.port = instrument.port();
  options.settle = std::chrono::milliseconds(1);
  options.reset_wait = std::chrono::milliseconds(0);
  const std::atomic<bool> stopping = false;
  LiveSourceCounters counters;
  micropulse::Conversation conversation(options, bell, stopping, counters,
                                        [](const std::string& line) { fuzz::require_one_line(line); });
  const int peer = instrument.accept();
  fuzz::require(peer >= 0, "a connection");
  const auto send = [&](std::span<const std::uint8_t> bytes) {
    if (!bytes.empty()) static_cast<void>(::send(peer, bytes.data(), bytes.size(), MSG_NOSIGNAL));
  };
  // Some of it is there before the reset, which forgets it, and the rest is the answer.
  const auto bytes = input.rest();
  const std::size_t before = bytes.size() * (cut % 4) / 4;
  send(bytes.first(before));
  try {
    if (cut % 2 == 0) {
      send(bytes.subspan(before));
      ::shutdown(peer, SHUT_WR);
      conversation.tell({"PRF 1000\r\n"}, "the settings");
    } else {
      while (conversation.take_bytes()) {
        while (const auto reply = conversation.next()) fuzz::require(reply->channel < 2048, "channels have 11 bits");
      }
      send(bytes.subspan(before));
      ::shutdown(peer, SHUT_WR);
      conversation.reset(options.settings, 1);
    }
    for (;;) static_cast<void>(conversation.take_bytes()), static_cast<void>(conversation.next());
  } catch (const InputError& error) {
    fuzz::require_one_line(error.what());
  } catch (const RuntimeFault& error) {
    fuzz::require_one_line(error.what());
  }
  ::close(peer);
  return 0;
}
