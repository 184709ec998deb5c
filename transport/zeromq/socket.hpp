// What all ZeroMQ sockets have in common.
#pragma once

#include <zmq.hpp>

#include <cstdint>
#include <string>

namespace echoform {

/// "tcp://127.0.0.1:17180", "tcp://[::1]:17180", "tcp://*:17180". InputError unless `address` is an IPv4 or IPv6 address or "*".
[[nodiscard]] std::string tcp_endpoint(const std::string& address, std::uint16_t port);

/// The same for a program on this host: loopback in the place of all interfaces.
[[nodiscard]] std::string connectable_endpoint(const std::string& address, std::uint16_t port);

/// Settings of every socket: no waiting at close, peers that fall silent are noticed, IPv6 allowed.
void set_common_options(zmq::socket_t& socket);

/// A bound PUB socket, or an XPUB socket, which differs in that it hands out what is subscribed to: nothing that subscribers send
/// is longer than a subscription, at most `queued` messages wait for one. Throws RuntimeFault naming `what` and the endpoint if
/// it cannot be bound.
[[nodiscard]] zmq::socket_t bind_publisher(zmq::context_t& context, const std::string& address, std::uint16_t port, int queued,
                                           const std::string& what, zmq::socket_type type = zmq::socket_type::pub);

/// A SUB socket connected to `endpoint` ("tcp://HOST:PORT"). With `latest_only`, whoever reads slowly reads the newest
/// message. Throws InputError if the endpoint is malformed.
[[nodiscard]] zmq::socket_t connect_subscriber(zmq::context_t& context, const std::string& endpoint, const std::string& prefix,
                                               bool latest_only, std::int64_t message_limit);

/// The port that the socket is bound to.
[[nodiscard]] std::uint16_t bound_port(const zmq::socket_t& socket);

}  // namespace echoform
