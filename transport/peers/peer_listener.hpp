// The listening port of a server.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <string>
#include <string_view>

namespace echoform {

/// Destroyed before what its handlers use; the context runs none of them afterwards.
class PeerListener {
 public:
  using Welcome = std::function<void(boost::asio::ip::tcp::socket socket, const boost::asio::ip::address& peer)>;

  explicit PeerListener(boost::asio::io_context& context) : context_(context) {}

  /// RuntimeFault where that fails: "`server`: cannot listen on `place`: ...".
  void listen(const boost::asio::ip::tcp::endpoint& endpoint, std::string_view server, std::string_view place);
  /// The endpoint in use, with the port that the system chose where 0 was requested.
  [[nodiscard]] boost::asio::ip::tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }
  /// Hands every connection to `welcome`, on the context's thread. If `welcome` throws, that connection is lost; others are
  /// still accepted.
  void accept(Welcome welcome);

 private:
  void accept_next();

  boost::asio::io_context& context_;
  boost::asio::ip::tcp::acceptor acceptor_{context_};
  boost::asio::ip::tcp::endpoint arriving_;  // of the next connection: a socket whose peer has gone does not tell any more
  boost::asio::steady_timer pause_{context_};
  Welcome welcome_;
};

}  // namespace echoform
