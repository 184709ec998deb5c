// Messages of a publisher that is not trusted. Each message has one part; messages of several parts are dropped and counted.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <zmq.hpp>

namespace echoform {

/// The reading end of a SUB socket. Used by one thread at a time, besides the inbox's own thread.
class MessageInbox {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  virtual ~MessageInbox() = default;

  /// The next message, valid until the next call; nothing where none comes by the deadline. A flood of messages that are dropped
  /// does not hold the caller longer.
  [[nodiscard]] virtual std::optional<std::span<const std::byte>> next(Deadline deadline) = 0;
  /// Messages of several parts that came, and were dropped.
  [[nodiscard]] virtual std::uint64_t dropped() const = 0;
};

/// An inbox that returns every message, in order.
[[nodiscard]] std::unique_ptr<MessageInbox> inbox_of_all(zmq::socket_t socket);
/// An inbox that returns the newest message. A thread of its own reads the socket without pause, and keeps one message.
/// ZMQ_CONFLATE would do the same, but it ends the program where a publisher sends a message of several parts. Throws
/// RuntimeFault where the system has no thread or descriptor for it.
[[nodiscard]] std::unique_ptr<MessageInbox> inbox_of_the_newest(zmq::socket_t socket);

}  // namespace echoform
