// A client of the OpenIGTLink server: questions in any order and any portions. The session runs over a pair of connected sockets
// without a listener; when the client has said everything and is gone, the session must be gone too.
//
// Input: a byte that says how the rest is cut, then the bytes that come.
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <memory>

#include "tests/fuzz/input.hpp"
#include "transport/openigtlink/client_session.hpp"

namespace {

/// Bytes that the server sent, which are dropped.
std::size_t drain(int from) {
  static std::array<char, 65536> scratch;
  std::size_t bytes = 0;
  for (ssize_t got = 0; (got = ::recv(from, scratch.data(), scratch.size(), MSG_DONTWAIT)) > 0;)
    bytes += static_cast<std::size_t>(got);
  return bytes;
}

/// Whatever is due. Time-outs of seconds are pending all along, so this polls; it never waits.
std::size_t settle(boost::asio::io_context& context, int client) {
  std::size_t answered = 0;
  for (int idle = 0; idle < 3;) {
    context.restart();
    const bool ran = context.poll() > 0;
    const std::size_t bytes = drain(client);
    answered += bytes;
    idle = ran || bytes > 0 ? 0 : idle + 1;
  }
  return answered;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoform;
  if (size > std::size_t{1} << 15) return 0;  // less than a socket's buffer: the client never waits
  fuzz::Input input(data, size);
  const std::size_t portion = 1 + std::size_t{16} * input.take<std::uint8_t>();
  std::array<int, 2> ends{};
  fuzz::require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0, "a pair of sockets");
  {
    openigtlink::LinkState state{OpenIgtlinkSinkOptions{}};
    boost::asio::io_context context;
    boost::asio::ip::tcp::socket socket(context);
    socket.assign(boost::asio::ip::tcp::v4(), ends[0]);
    const auto peer = boost::asio::ip::make_address("127.0.0.1");
    fuzz::require(!state.book.enter(peer, {}), "a first peer is let in");
    std::make_shared<openigtlink::ClientSession>(state, std::move(socket), peer)->start();
    auto rest = input.rest();
    std::size_t answered = 0;
    while (!rest.empty()) {
      const auto part = rest.first(std::min(portion, rest.size()));
      if (::send(ends[1], part.data(), part.size(), MSG_NOSIGNAL) < 0) break;  // it was cut off
      rest = rest.subspan(part.size());
      answered += settle(context, ends[1]);
    }
    // Nobody asks for more than the longest answer by a shortest question.
    fuzz::require(answered <= (std::size_t{1} << 16) + 1024 * size, "answers in proportion to questions");
    ::shutdown(ends[1], SHUT_WR);
    settle(context, ends[1]);
    fuzz::require(state.sessions.empty(), "no session outlives its client");
    fuzz::require(state.book.open() == 0, "no place is kept");
  }
  ::close(ends[1]);
  return 0;
}
