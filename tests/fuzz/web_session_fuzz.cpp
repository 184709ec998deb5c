// A connection to the web server: HTTP requests and, once upgraded, WebSocket frames. The session runs over a pair of connected
// sockets without a listener; when the peer has said everything and is gone, the session must be gone too.
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "tests/fuzz/input.hpp"
#include "transport/web/web_server.hpp"

namespace {

/// Reads what is there; whether there was something.
bool drain(int from) {
  static std::array<char, 65536> scratch;
  bool any = false;
  while (::recv(from, scratch.data(), scratch.size(), MSG_DONTWAIT) > 0) any = true;
  return any;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoform;
  // More than any header; less than a socket's buffer, so that the peer's write below never blocks.
  if (size > std::size_t{1} << 15) return 0;
  std::array<int, 2> ends{};
  fuzz::require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0, "a pair of sockets");
  if (size > 0)
    fuzz::require(::send(ends[1], data, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size), "the peer's bytes are sent");
  ::shutdown(ends[1], SHUT_WR);
  {
    WebSinkOptions options;
    options.token = "t";
    WebState state(options);
    state.metrics = [] { return std::string("frames 1\n"); };
    boost::asio::io_context context;
    boost::asio::ip::tcp::socket socket(context);
    socket.assign(boost::asio::ip::tcp::v4(), ends[0]);
    const auto peer = boost::asio::ip::make_address("127.0.0.1");
    fuzz::require(!state.book.enter(peer, {}), "a first peer is let in");
    serve_http(state, std::move(socket), ConnectionCount(state, peer));
    // Time-outs of seconds are pending all along, so this polls; it never waits.
    for (int idle = 0; idle < 3;) {
      context.restart();
      const bool ran = context.poll() > 0;
      const bool answered = drain(ends[1]);
      idle = ran || answered ? 0 : idle + 1;
    }
    fuzz::require(state.viewers.empty() && state.viewer_count == 0, "no viewer outlives its peer");
    fuzz::require(state.connections == 0, "no connection outlives its peer");
  }
  ::close(ends[1]);
  return 0;
}
