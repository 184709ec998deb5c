// What all ZeroMQ sockets have in common: how they are bound and connected, with which limits and which keys. Every socket of the
// program is made here.
#pragma once

#include <zmq.hpp>

#include <cstdint>
#include <optional>
#include <string>

#include "base/wake_bell.hpp"
#include "transport/zeromq/context.hpp"
#include "transport/zeromq/curve_keys.hpp"

namespace echoform {

/// "tcp://127.0.0.1:17180", "tcp://[::1]:17180", "tcp://*:17180". InputError unless `address` is an IPv4 or IPv6 address or "*".
[[nodiscard]] std::string tcp_endpoint(const std::string& address, std::uint16_t port);

/// The same for a program on this host: loopback in the place of all interfaces.
[[nodiscard]] std::string connectable_endpoint(const std::string& address, std::uint16_t port);

/// Whether only programs of this host can reach the address.
[[nodiscard]] bool is_loopback(const std::string& address);

/// How a peer that is gone is noticed.
enum class SignsOfLife : std::uint8_t {
  heartbeats,  ///< ZeroMQ's: a peer that completes no message for 15 s is disconnected
  /// TCP's keep-alive, after some 25 s. For sockets that hold their peers back by not reading: there a heartbeat would wait
  /// behind the messages, and the peer would be disconnected.
  keep_alive,
};

/// Bytes of the longest subscription that is taken: the longest beginning of a stream's messages (stream_prefix() of a name of 64
/// characters and a view) is less than half of it, and CURVE's handshake takes some 300.
inline constexpr std::int64_t subscription_limit = 512;
/// Connections that a socket accepts from all addresses together, per second for long, and at once, where new connections
/// cause work on the socket's thread.
inline constexpr double newcomers_rate = 16.0;
inline constexpr double newcomers_burst = 64.0;

struct BindOptions {
  zmq::socket_type type = zmq::socket_type::pub;
  std::string what;                   ///< "image publisher": for messages
  std::string address = "127.0.0.1";  ///< IPv4 or IPv6 address; "*" for all interfaces
  std::uint16_t port = 0;             ///< 0: any free one
  std::int64_t message_limit = 4096;  ///< bytes; a peer that sends a longer message is disconnected
  int send_queue = 16;                ///< messages that wait for one peer
  /// Messages of one peer that wait for us; 0: any number. Where a queue is full, libzmq 4.3.4 reads nothing more of its
  /// peer. If that peer goes, libzmq ends the program once a heartbeat of either side is due. So a socket with a bounded
  /// queue must have no heartbeats, be read without pause, or have trusted peers.
  int receive_queue = 0;
  int receive_buffer = 0;  ///< bytes of one peer that wait in the system for libzmq to read them; 0: as many as the system likes
  ZeromqPeerLimits limits{};
  SignsOfLife signs_of_life = SignsOfLife::heartbeats;
};

/// A bound socket, a CURVE server if the context has keys; without keys, on an address that other hosts reach, a warning is
/// logged. It does not wait at close, notices peers that fall silent, and gives a peer 5 s for its handshake. Throws InputError
/// for a bad address, RuntimeFault naming `what` and the endpoint if it cannot be bound, or where
/// too few file descriptors are left.
[[nodiscard]] zmq::socket_t bind_socket(ZeromqContext& context, const BindOptions& options);

struct ConnectOptions {
  zmq::socket_type type = zmq::socket_type::sub;
  std::string endpoint;               ///< "tcp://HOST:PORT"
  std::string where = "--connect";    ///< what named it, for messages
  std::int64_t message_limit = 4096;  ///< bytes; a server that sends a longer message is disconnected
  int send_queue = 16;
  int receive_queue = 16;
  bool connected_only = false;            ///< nothing waits in a queue while there is no connection (ZMQ_IMMEDIATE)
  std::optional<CurveClientKeys> keys{};  ///< for a server with CURVE
  SignsOfLife signs_of_life = SignsOfLife::heartbeats;
  std::string report_to{};  ///< where a ConnectionWatch reads how the connection fares; empty: nowhere
};

/// A socket that connects, and connects again with back-off, by itself. Throws InputError if the endpoint is malformed,
/// RuntimeFault where too few file descriptors are left.
[[nodiscard]] zmq::socket_t connect_socket(zmq::context_t& context, const ConnectOptions& options);

/// A bound XPUB socket, which publishes, and delivers the subscriptions. Subscribers may send nothing longer than a
/// subscription. At most `queued` messages wait for one subscriber, and at most `subscribers` are connected. Subscriptions
/// that wait are limited only by the limit on what subscribers send. They are taken on the thread that uses the socket, so
/// that this thread should do nothing else: see PublisherSocket.
[[nodiscard]] zmq::socket_t bind_publisher(ZeromqContext& context, const std::string& address, std::uint16_t port, int queued,
                                           const std::string& what, std::size_t subscribers = 64);

/// A SUB socket connected to `endpoint`, subscribed to `prefix`. It may be left unread for as long as its owner likes.
/// `report_to` as in ConnectOptions.
[[nodiscard]] zmq::socket_t connect_subscriber(zmq::context_t& context, const std::string& endpoint, const std::string& prefix,
                                               std::int64_t message_limit,
                                               const std::optional<CurveClientKeys>& keys = std::nullopt,
                                               const std::string& report_to = {});

/// Waits until libzmq has work for the socket (which may be only a peer that connects or leaves), or until the bell rings,
/// which it resets. False after `longest` without either. Then let_newcomers_in() is due, since nothing reports that a peer
/// which was let in has gone before it was connected. Call it on the thread that owns the socket, when it has just taken all
/// messages, or has found ZMQ_EVENTS without any.
[[nodiscard]] bool wait_for_events(const zmq::socket_t& socket, const WakeBell& bell,
                                   std::chrono::milliseconds longest = std::chrono::milliseconds(100));

/// The port that the socket is bound to.
[[nodiscard]] std::uint16_t bound_port(const zmq::socket_t& socket);

}  // namespace echoform
