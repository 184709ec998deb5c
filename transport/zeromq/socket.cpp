#include "transport/zeromq/socket.hpp"

#include <fmt/format.h>

#include <boost/asio/ip/address.hpp>
#include <cerrno>
#include <charconv>

#include "pipeline/errors.hpp"

namespace echoform {

std::string tcp_endpoint(const std::string& address, std::uint16_t port) {
  if (address == "*") return fmt::format("tcp://*:{}", port);
  boost::system::error_code error;
  const auto parsed = boost::asio::ip::make_address(address, error);
  if (error) throw InputError("address", fmt::format("\"{}\"", address), "an IPv4 or IPv6 address, or * for all interfaces");
  return parsed.is_v6() ? fmt::format("tcp://[{}]:{}", address, port) : fmt::format("tcp://{}:{}", address, port);
}

std::string connectable_endpoint(const std::string& address, std::uint16_t port) {
  if (address == "*" || address == "0.0.0.0") return tcp_endpoint("127.0.0.1", port);
  return tcp_endpoint(address == "::" ? "::1" : address, port);
}

void set_common_options(zmq::socket_t& socket) {
  socket.set(zmq::sockopt::linger, 0);
  socket.set(zmq::sockopt::ipv6, true);
  socket.set(zmq::sockopt::heartbeat_ivl, 5000);
  socket.set(zmq::sockopt::heartbeat_timeout, 15000);
  socket.set(zmq::sockopt::handshake_ivl, 5000);
}

zmq::socket_t bind_publisher(zmq::context_t& context, const std::string& address, std::uint16_t port, int queued,
                             const std::string& what, zmq::socket_type type) {
  const std::string endpoint = tcp_endpoint(address, port);
  zmq::socket_t socket(context, type);
  set_common_options(socket);
  socket.set(zmq::sockopt::sndhwm, queued);
  socket.set(zmq::sockopt::maxmsgsize, std::int64_t{4096});
  try {
    socket.bind(endpoint);
  } catch (const zmq::error_t& error) {
    const char* hint =
        error.num() == EADDRINUSE ? "the port is in use; choose another or stop the program that holds it" : error.what();
    throw RuntimeFault(fmt::format("{}: cannot listen on {}: {}", what, endpoint, hint));
  }
  return socket;
}

zmq::socket_t connect_subscriber(zmq::context_t& context, const std::string& endpoint, const std::string& prefix,
                                 bool latest_only, std::int64_t message_limit) {
  zmq::socket_t socket(context, zmq::socket_type::sub);
  set_common_options(socket);
  if (latest_only) {
    socket.set(zmq::sockopt::conflate, true);
  } else {
    socket.set(zmq::sockopt::rcvhwm, 16);
  }
  socket.set(zmq::sockopt::maxmsgsize, message_limit);
  socket.set(zmq::sockopt::reconnect_ivl, 100);
  socket.set(zmq::sockopt::reconnect_ivl_max, 5000);
  socket.set(zmq::sockopt::subscribe, prefix);
  try {
    socket.connect(endpoint);
  } catch (const zmq::error_t&) {
    throw InputError("--connect", fmt::format("\"{}\"", endpoint), "tcp://HOST:PORT");
  }
  return socket;
}

std::uint16_t bound_port(const zmq::socket_t& socket) {
  const std::string endpoint = socket.get(zmq::sockopt::last_endpoint);
  std::uint16_t port = 0;
  const auto colon = endpoint.rfind(':');
  if (colon != std::string::npos) std::from_chars(endpoint.data() + colon + 1, endpoint.data() + endpoint.size(), port);
  return port;
}

}  // namespace echoform
