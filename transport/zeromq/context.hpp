// A ZeroMQ context for listening sockets, with a thread that guards them: it decides which peers are let in, limits the
// number of peers and what they send, and counts refused peers.
#pragma once

#include <zmq.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "transport/zeromq/curve_keys.hpp"
#include "transport/zeromq/peer_watch.hpp"

namespace echoform {

/// If the context has keys, all sockets that bind_socket() makes in it are CURVE servers, so that no socket stays
/// unprotected by mistake. Close the sockets before the context is destroyed. That happens by itself if the context is
/// declared before them.
class ZeromqContext {
 public:
  /// Throws InputError for keys where libzmq has no CURVE.
  explicit ZeromqContext(std::optional<CurveServerKeys> keys = std::nullopt);
  ~ZeromqContext();
  ZeromqContext(const ZeromqContext&) = delete;
  ZeromqContext& operator=(const ZeromqContext&) = delete;

  [[nodiscard]] zmq::context_t& raw() noexcept;
  // NOLINTNEXTLINE(google-explicit-constructor): it is one, wherever libzmq wants one
  operator zmq::context_t&() noexcept { return raw(); }
  [[nodiscard]] bool encrypted() const noexcept;

  /// The counters of all sockets of this context.
  [[nodiscard]] const ZeromqPeerCounters& peers() const noexcept;
  /// The same, for whoever may outlive the context.
  [[nodiscard]] std::shared_ptr<const PeerCounters> shared_peers() const noexcept;
  /// Disconnects, on each socket, the peer that has sent the most. Any thread may call it.
  void drop_loudest();

  /// Lets a few more new connections in. From the first call on, only a few are let in from one call to the next. It is for
  /// the owner of a socket on whose thread connecting and leaving peers cause work, each time after libzmq has done that
  /// work. Neither waits nor allocates.
  void let_newcomers_in() noexcept;

  /// Notes that a message was taken, for the reader of a socket with a limit between messages. The message's last part
  /// identifies the peer. Where the bytes of a peer are limited, `bytes` states how many the message had on the wire; as
  /// many more are then read from the peer. Neither waits nor allocates.
  void took(zmq::message_t& last_part, std::uint64_t bytes = 0) noexcept;

  /// Makes the socket a CURVE server if there are keys, and binds it, with its peers watched from the first on; used by
  /// bind_socket(). `door` is the socket's name in the log. Throws zmq::error_t if the socket cannot be bound.
  void guard(zmq::socket_t& socket, const std::string& door, const ZeromqPeerLimits& limits, const std::string& endpoint);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace echoform
