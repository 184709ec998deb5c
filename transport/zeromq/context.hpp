// A ZeroMQ context for sockets that listen, with what guards them: a thread that says who is let in, keeps the number of peers
// and what they send within limits, and counts those that are turned away.
#pragma once

#include <zmq.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "transport/zeromq/curve_keys.hpp"
#include "transport/zeromq/peer_watch.hpp"

namespace echoform {

/// Sockets that bind_socket() makes in it are CURVE servers if it has keys: none of them can be forgotten. Close the sockets
/// before the context goes; declared before them, that comes by itself.
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

  /// Of all its sockets.
  [[nodiscard]] const ZeromqPeerCounters& peers() const noexcept;
  /// The same, for whoever may outlive the context.
  [[nodiscard]] std::shared_ptr<const PeerCounters> shared_peers() const noexcept;
  /// Cuts off the peer that has sent most, of each socket. Any thread.
  void drop_loudest();

  /// For whoever owns a socket on whose thread newcomers and those who leave cause work, after each time that libzmq has done it:
  /// from the first call on, only a few newcomers are let in from one call to the next. Neither waits nor allocates.
  void let_newcomers_in() noexcept;

  /// For whoever reads a socket with a limit between messages: notes whose message was taken, by its last part; and, where what a
  /// peer sends is limited, how many bytes it was on its way, of which as many more are read. Neither waits nor allocates.
  void took(zmq::message_t& last_part, std::uint64_t bytes = 0) noexcept;

  /// For bind_socket(): makes the socket a CURVE server if there are keys, and binds it with its peers watched from the first on.
  /// `door` is what the log calls it. Throws zmq::error_t if it cannot be bound.
  void guard(zmq::socket_t& socket, const std::string& door, const ZeromqPeerLimits& limits, const std::string& endpoint);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace echoform
