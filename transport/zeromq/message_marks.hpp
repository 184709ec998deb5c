// The connections from which whole messages came. libzmq delivers a message once its last part has arrived, and limits
// neither the number of parts nor their total size. So a peer that sends parts without end is recognised by the bytes that
// it has sent since its last whole message.
#pragma once

#include <zmq.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transport/zeromq/receive_limit.hpp"

namespace echoform {

/// The thread that reads a socket writes the marks; the thread that guards the socket reads them.
class MessageMarks {
 public:
  /// Notes the connection of a received message, given any of its parts but a ROUTER's identity. `bytes` is the length of
  /// the message on the wire. Neither waits nor allocates.
  void note(zmq::message_t& message, std::uint64_t bytes) noexcept {
    const int descriptor = ::zmq_msg_get(message.handle(), ZMQ_SRCFD);
    if (descriptor < 0) return;
    counts_[place(descriptor)].fetch_add(1, std::memory_order_relaxed);
    allow_between_messages(descriptor, bytes);
  }
  /// A number that changes with every message of the connection with this descriptor.
  [[nodiscard]] std::uint32_t of(int descriptor) const noexcept {
    return counts_[place(descriptor)].load(std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t places = 65536;
  // Descriptors are small numbers, also where thousands of connections are open. Where two share a place, a message of one counts
  // for both, and nobody is wrongly accused.
  static std::size_t place(int descriptor) noexcept { return static_cast<std::size_t>(descriptor) % places; }
  std::array<std::atomic<std::uint32_t>, places> counts_{};
};

}  // namespace echoform
