// The peers of one listening ZeroMQ socket. libzmq itself limits neither their number nor what they send. But it reports
// when it has accepted a connection, when one has gone, and the descriptor of each. A duplicate of that descriptor reveals
// the peer's address and how much it has sent, and can shut the connection down, which to libzmq looks as if the peer had
// closed it.
#pragma once

#include <zmq.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/descriptors.hpp"
#include "transport/peers/peer_book.hpp"
#include "transport/peers/refusal_log.hpp"
#include "transport/zeromq/message_marks.hpp"

namespace echoform {

struct ZeromqPeerLimits {
  PeerLimits peers;
  /// Bytes that one peer may send at once, and per second for long, everything included; infinite for peers whose purpose is
  /// to send. libzmq never reads more from a peer than these limits and `between_messages` allow.
  double inbound_burst = std::numeric_limits<double>::infinity();
  double inbound_rate = std::numeric_limits<double>::infinity();
  /// Bytes that one peer may send from one whole message to the next that is taken, without heartbeats. libzmq holds all
  /// these bytes in memory.
  std::uint64_t between_messages = std::numeric_limits<std::uint64_t>::max();
  /// File descriptors that its connections leave to the rest of the program.
  std::size_t descriptors_left = descriptors_for_control;
};

/// Bytes per second allowed for heartbeats. A PING and a PONG in five seconds take about 17 over CURVE.
inline constexpr double signs_of_life_rate = 32.0;

using ZeromqPeerCounters = PeerCounters;

/// Belongs to one thread. It calls read_events() when events() is readable, look() when epoll() is readable, and tick() some
/// times a second.
class PeerWatch {
 public:
  /// Construct it before the socket is bound. `name` is unique to the watch within the context, `door` is the socket's name
  /// in the log. `marks`, those of messages taken, must outlive the watch.
  PeerWatch(zmq::context_t& context, zmq::socket_t& socket, const std::string& name, const std::string& door,
            const ZeromqPeerLimits& limits, bool encrypted, const MessageMarks& marks, ZeromqPeerCounters& counters);
  ~PeerWatch();
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;

  /// Sets the port that the socket was bound to. Connections to other ports are not peers of this socket.
  void bound_to(std::uint16_t port) { port_ = port; }

  [[nodiscard]] zmq::socket_t& events() { return events_; }
  [[nodiscard]] int epoll() const { return epoll_; }
  /// False once the socket is closed.
  [[nodiscard]] bool read_events();
  /// Disconnects peers that have sent too much.
  void look();
  /// Disconnects peers that have sent too much without completing a message. `passed` is the time since the last call.
  void tick(std::chrono::duration<double> passed);
  /// Disconnects the peer that has recently sent the most. For sockets that limit what a peer sends.
  void drop_loudest();
  /// Bytes that libzmq may have freed since the last call: parts of unfinished messages of peers that have gone.
  [[nodiscard]] std::uint64_t freed() noexcept { return std::exchange(freed_, 0); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Peer {
    int descriptor = -1;  ///< a duplicate, ours
    int number = -1;      ///< libzmq's
    boost::asio::ip::address address;
    std::uint64_t received = 0;
    double allowance = 0.0;  ///< bytes, at `seen`
    Clock::time_point seen;
    std::uint32_t mark = 0;   ///< changes when a message of its is taken
    std::uint64_t read = 0;   ///< of its bytes, at the last tick
    double unfinished = 0.0;  ///< of those, what has come since its last message, signs of life excepted
    bool cut_off = false;
    bool in_book = true;
  };

  void accepted(int number);
  void welcome(int number);
  void note_freed(int descriptor);
  void refuse(PeerRefusal reason, const boost::asio::ip::address& from);
  void disconnected(int number);
  void check(Peer& peer, bool ended = false);
  void weigh(Peer& peer, bool ended);
  void cut_off(Peer& peer, PeerRefusal reason);
  [[nodiscard]] bool make_room();
  void leave_book(Peer& peer);
  void forget(std::map<std::uint64_t, Peer>::iterator at);
  [[nodiscard]] bool limited() const;
  void allow_more(double seconds);

  RefusalLog log_;
  ZeromqPeerLimits limits_;
  std::uint64_t handshake_bytes_;
  const MessageMarks& marks_;
  ZeromqPeerCounters& counters_;
  PeerBook book_;
  zmq::socket_t events_;
  std::uint16_t port_ = 0;
  int epoll_ = -1;
  int spare_ = -1;  // holds a new connection while it is judged; reserves a descriptor for that otherwise
  std::uint64_t freed_ = 0;
  double may_read_ = 0.0;  // bytes that each peer may have read more, less than one; and those of its signs of life
  double signs_of_life_ = 0.0;
  std::uint64_t next_ = 1;
  bool left_in_handshake_ = false;
  std::set<int> turned_away_;            // libzmq's numbers of connections that were refused, until they end
  std::map<std::uint64_t, Peer> peers_;  // by a number of our own: descriptors are used again
};

}  // namespace echoform
