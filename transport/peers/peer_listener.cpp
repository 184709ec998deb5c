#include "transport/peers/peer_listener.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "base/errors.hpp"

namespace echoform {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

void PeerListener::listen(const tcp::endpoint& endpoint, std::string_view server, std::string_view place) {
  try {
    acceptor_.open(endpoint.protocol());
    acceptor_.set_option(tcp::acceptor::reuse_address(true));
    acceptor_.bind(endpoint);
    acceptor_.listen();
  } catch (const boost::system::system_error& error) {
    const std::string hint = error.code() == asio::error::address_in_use
                                 ? "the port is in use; choose another or stop the program that holds it"
                                 : error.code().message();
    throw RuntimeFault(fmt::format("{}: cannot listen on {}: {}", server, place, hint));
  }
}

void PeerListener::accept(Welcome welcome) {
  welcome_ = std::move(welcome);
  accept_next();
}

void PeerListener::accept_next() {
  acceptor_.async_accept(context_, arriving_, [this](error_code error, tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (error) {
      // Descriptors are probably exhausted: wait for connections to close before the next attempt.
      pause_.expires_after(std::chrono::milliseconds(100));
      pause_.async_wait([this](error_code stopped) {
        if (!stopped) accept_next();
      });
      return;
    }
    const asio::ip::address peer = arriving_.address();
    accept_next();
    welcome_(std::move(socket), peer);
  });
}

}  // namespace echoform
