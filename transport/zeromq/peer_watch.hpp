// The peers of one listening ZeroMQ socket. libzmq itself limits neither their number nor what they send; but it says when it has
// accepted a connection and when one has gone, and by which descriptor. A duplicate of that descriptor tells who the peer is and
// how much it has sent, and shuts the connection down, which libzmq then takes for the peer's doing.
#pragma once

#include <zmq.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "transport/peers/peer_book.hpp"

namespace echoform {

struct ZeromqPeerLimits {
  PeerLimits peers;
  /// Bytes that one peer may send at once and a second for long, everything included; infinite for peers whose purpose is to
  /// send.
  double inbound_burst = std::numeric_limits<double>::infinity();
  double inbound_rate = std::numeric_limits<double>::infinity();
};

using ZeromqPeerCounters = PeerCounters;

/// Belongs to one thread, which calls read_events() when events() has something, and look() when epoll() has.
class PeerWatch {
 public:
  /// Before the socket is bound. `name` is the watch's own within the context.
  PeerWatch(zmq::context_t& context, zmq::socket_t& socket, const std::string& name, const ZeromqPeerLimits& limits,
            ZeromqPeerCounters& counters);
  ~PeerWatch();
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;

  /// The port that the socket was bound to: connections of other ports are none of its peers.
  void bound_to(std::uint16_t port) { port_ = port; }

  [[nodiscard]] zmq::socket_t& events() { return events_; }
  [[nodiscard]] int epoll() const { return epoll_; }
  /// False once the socket is closed.
  [[nodiscard]] bool read_events();
  /// Cuts off those that have sent too much.
  void look();
  /// Cuts off the peer that has sent most of late. For sockets with a limit on it.
  void drop_loudest();

 private:
  using Clock = std::chrono::steady_clock;
  struct Peer {
    int descriptor = -1;  ///< a duplicate, ours
    int number = -1;      ///< libzmq's
    boost::asio::ip::address address;
    std::uint64_t received = 0;
    double allowance = 0.0;  ///< bytes, at `seen`
    Clock::time_point seen;
    bool cut_off = false;
  };

  void accepted(int number);
  void disconnected(int number);
  void check(Peer& peer);
  void cut_off(Peer& peer, PeerRefusal reason);
  void forget(std::map<std::uint64_t, Peer>::iterator at);
  [[nodiscard]] bool limited() const;

  ZeromqPeerLimits limits_;
  ZeromqPeerCounters& counters_;
  PeerBook book_;
  zmq::socket_t events_;
  std::uint16_t port_ = 0;
  int epoll_ = -1;
  std::uint64_t next_ = 1;
  bool left_in_handshake_ = false;
  std::set<int> turned_away_;            // libzmq's numbers of connections that were refused, until they end
  std::map<std::uint64_t, Peer> peers_;  // by a number of our own: descriptors are used again
};

}  // namespace echoform
