// Live control over HTTP: the way of a request from the connection to JSON and back. The session runs over a pair of connected
// sockets without a listener; each request is answered by one response, and when the peer is gone the session is gone.
//
// Input: a byte; if it is even the rest is the body of a request that may change settings, else it is whatever the peer sends.
#include <google/protobuf/stubs/logging.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <string>

#include "tests/fuzz/input.hpp"
#include "transport/control/control_json.hpp"
#include "transport/web/web_server.hpp"

namespace {

using namespace echoform;

/// What the server says to a body, as it is or as far as it is understood.
void serve(const std::string& body, const WebSink::ControlAnswer& answer) {
  wire::ControlRequest request;
  wire::ControlReply reply;
  if (const auto fault = parse_control_json(body, request)) {
    fuzz::require_one_line(*fault);
    reply.set_outcome(wire::REFUSED);
    reply.set_reason(*fault);
  } else {
    reply.set_outcome(wire::DONE);
    for (const auto& change : request.changes()) {
      auto& setting = *reply.add_settings();
      setting.set_key(change.key());
      setting.set_value(change.value());
    }
  }
  answer(http_status(reply.outcome()), control_json(reply));
}

std::string request_of(std::string_view body) {
  return fmt::format(
      "POST /control HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer t\r\nContent-Type: application/json\r\n"
      "Content-Length: {}\r\n\r\n{}",
      body.size(), body);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const google::protobuf::LogSilencer silencer;
  // Less than a socket's buffer, so that the peer's write below never blocks.
  if (size > std::size_t{1} << 15) return 0;
  fuzz::Input input(data, size);
  const bool well_formed = input.take<std::uint8_t>() % 2 == 0;
  const std::string sent = well_formed ? request_of(input.text()) : std::string(input.text());
  std::array<int, 2> ends{};
  fuzz::require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0, "a pair of sockets");
  fuzz::require(::send(ends[1], sent.data(), sent.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(sent.size()),
                "the bytes are sent");
  ::shutdown(ends[1], SHUT_WR);
  std::string answered;
  std::size_t asked = 0;
  {
    WebSinkOptions options;
    options.token = "t";
    WebState state(options);
    boost::asio::io_context context;
    PendingReplies replies(context);
    state.replies = &replies;
    state.control = [&](const std::string& body, const WebSink::ControlAnswer& answer) {
      ++asked;
      serve(body, answer);
    };
    boost::asio::ip::tcp::socket socket(context);
    socket.assign(boost::asio::ip::tcp::v4(), ends[0]);
    const auto peer = boost::asio::ip::make_address("127.0.0.1");
    fuzz::require(!state.book.enter(peer, {}), "a first peer is let in");
    serve_http(state, std::move(socket), ConnectionCount(state, peer));
    // Time-outs of seconds are pending all along, so this polls; it never waits.
    for (int idle = 0; idle < 3;) {
      context.restart();
      bool any = context.poll() > 0;
      std::array<char, 65536> some{};
      for (ssize_t got = 0; (got = ::recv(ends[1], some.data(), some.size(), MSG_DONTWAIT)) > 0; any = true)
        answered.append(some.data(), static_cast<std::size_t>(got));
      idle = any ? 0 : idle + 1;
    }
    fuzz::require(state.connections == 0, "no connection outlives its peer");
  }
  if (well_formed) {
    const bool fits = input.text().size() <= WebSinkOptions{}.control_bytes;
    fuzz::require(asked == (fits ? 1U : 0U), "a body that fits is handed on once");
    fuzz::require(answered.starts_with("HTTP/1.1 ") && answered.find("HTTP/1.1 ", 1) == std::string::npos,
                  "one request, one response");
  }
  ::close(ends[1]);
  return 0;
}
