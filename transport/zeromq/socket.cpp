#include "transport/zeromq/socket.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/address.hpp>
#include <cerrno>
#include <charconv>

#include "base/descriptors.hpp"
#include "base/errors.hpp"
#include "base/thread_limits.hpp"
#include "transport/zeromq/connection_watch.hpp"

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

bool is_loopback(const std::string& address) {
  boost::system::error_code error;
  const auto parsed = boost::asio::ip::make_address(address, error);
  return !error && peer_network(parsed).is_loopback();
}

namespace {

void set_common_options(zmq::socket_t& socket, SignsOfLife signs) {
  socket.set(zmq::sockopt::linger, 0);
  socket.set(zmq::sockopt::ipv6, true);
  if (signs == SignsOfLife::heartbeats) {
    socket.set(zmq::sockopt::heartbeat_ivl, 5000);
    socket.set(zmq::sockopt::heartbeat_timeout, 15000);
  } else {
    socket.set(zmq::sockopt::tcp_keepalive, 1);
    socket.set(zmq::sockopt::tcp_keepalive_idle, 10);
    socket.set(zmq::sockopt::tcp_keepalive_intvl, 5);
    socket.set(zmq::sockopt::tcp_keepalive_cnt, 3);
  }
  socket.set(zmq::sockopt::handshake_ivl, 5000);
}

zmq::const_buffer bytes_of(const CurveKey& key) {
  return {key.data(), key.size()};
}

}  // namespace

zmq::socket_t bind_socket(ZeromqContext& context, const BindOptions& options) {
  const std::string endpoint = tcp_endpoint(options.address, options.port);
  require_descriptors(descriptors_of_a_context, options.what);
  require_threads_and_memory(threads_of_a_context, bytes_of_a_context, options.what);
  zmq::socket_t socket(context.raw(), options.type);
  set_common_options(socket, options.signs_of_life);
  socket.set(zmq::sockopt::sndhwm, options.send_queue);
  socket.set(zmq::sockopt::rcvhwm, options.receive_queue);
  socket.set(zmq::sockopt::maxmsgsize, options.message_limit);
  if (options.receive_buffer > 0) socket.set(zmq::sockopt::rcvbuf, options.receive_buffer);
  try {
    context.guard(socket, options.what, options.limits, endpoint);
  } catch (const zmq::error_t& error) {
    const char* hint =
        error.num() == EADDRINUSE ? "the port is in use; choose another or stop the program that holds it" : error.what();
    throw RuntimeFault(fmt::format("{}: cannot listen on {}: {}", options.what, endpoint, hint));
  }
  if (!context.encrypted() && !is_loopback(options.address)) {
    spdlog::warn("{}: {} is open to every host that reaches it, without encryption: [curve] gives it keys", options.what,
                 tcp_endpoint(options.address, bound_port(socket)));
  }
  return socket;
}

zmq::socket_t connect_socket(zmq::context_t& context, const ConnectOptions& options) {
  require_descriptors(descriptors_of_a_context, options.where);
  require_threads_and_memory(threads_of_a_context, bytes_of_a_context, options.where);
  zmq::socket_t socket(context, options.type);
  set_common_options(socket, options.signs_of_life);
  socket.set(zmq::sockopt::sndhwm, options.send_queue);
  socket.set(zmq::sockopt::rcvhwm, options.receive_queue);
  socket.set(zmq::sockopt::maxmsgsize, options.message_limit);
  socket.set(zmq::sockopt::immediate, options.connected_only);
  socket.set(zmq::sockopt::reconnect_ivl, 100);
  socket.set(zmq::sockopt::reconnect_ivl_max, 5000);
  if (options.keys) {
    socket.set(zmq::sockopt::curve_publickey, bytes_of(options.keys->own.public_key));
    socket.set(zmq::sockopt::curve_secretkey, bytes_of(options.keys->own.secret_key));
    socket.set(zmq::sockopt::curve_serverkey, bytes_of(options.keys->server_key));
  }
  if (!options.report_to.empty()) report_connection(socket, options.report_to);
  try {
    socket.connect(options.endpoint);
  } catch (const zmq::error_t&) {
    throw InputError(options.where, fmt::format("\"{}\"", options.endpoint), "tcp://HOST:PORT");
  }
  return socket;
}

zmq::socket_t bind_publisher(ZeromqContext& context, const std::string& address, std::uint16_t port, int queued,
                             const std::string& what, std::size_t subscribers) {
  BindOptions options;
  options.type = zmq::socket_type::xpub;
  options.what = what;
  options.address = address;
  options.port = port;
  options.send_queue = queued;
  options.message_limit = subscription_limit;
  options.receive_buffer = 4 * 1024;
  // A subscriber greets, subscribes, and sends signs of life. All that it sends may be parts of a message without an end, which
  // libzmq keeps. Or it may be subscriptions, for which libzmq builds a tree with a node for each byte. So more than this is not
  // allowed for long.
  options.limits.peers.connections = subscribers;
  options.limits.peers.per_address = (subscribers + 1) / 2;
  options.limits.peers.rate_of_all = newcomers_rate;
  options.limits.peers.burst_of_all = std::max(newcomers_burst, 2.0 * static_cast<double>(subscribers));
  options.limits.inbound_burst = 2.0 * 1024.0;
  options.limits.inbound_rate = signs_of_life_rate;
  return bind_socket(context, options);
}

zmq::socket_t connect_subscriber(zmq::context_t& context, const std::string& endpoint, const std::string& prefix,
                                 std::int64_t message_limit, const std::optional<CurveClientKeys>& keys,
                                 const std::string& report_to) {
  ConnectOptions options;
  options.report_to = report_to;
  options.endpoint = endpoint;
  options.message_limit = message_limit;
  options.send_queue = 1000;  // of subscriptions
  options.keys = keys;
  // While nobody reads, the queue of the subscriber is full and nothing is read from the server, whose signs of life would be
  // missed. libzmq 4.3.4 does not survive the time-out of a heartbeat then.
  options.signs_of_life = SignsOfLife::keep_alive;
  zmq::socket_t socket = connect_socket(context, options);
  socket.set(zmq::sockopt::subscribe, prefix);
  return socket;
}

bool wait_for_events(const zmq::socket_t& socket, const WakeBell& bell, std::chrono::milliseconds longest) {
  // zmq_poll() would not return for peers that only connect and leave.
  std::array<pollfd, 2> events{{{bell.descriptor(), POLLIN, 0}, {socket.get(zmq::sockopt::fd), POLLIN, 0}}};
  const bool any = ::poll(events.data(), events.size(), static_cast<int>(longest.count())) != 0;
  // A ring that came after poll() gave up is not repeated, so it counts.
  const bool rung = bell.silence();
  return any || rung;
}

std::uint16_t bound_port(const zmq::socket_t& socket) {
  const std::string endpoint = socket.get(zmq::sockopt::last_endpoint);
  std::uint16_t port = 0;
  const auto colon = endpoint.rfind(':');
  if (colon != std::string::npos) std::from_chars(endpoint.data() + colon + 1, endpoint.data() + endpoint.size(), port);
  return port;
}

}  // namespace echoform
