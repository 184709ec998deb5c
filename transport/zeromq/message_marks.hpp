// Which connections whole messages came from. libzmq hands a message out once its last part is there, and bounds neither the
// number of parts nor what the parts before take: who sends parts without end is known by what it sent since its last whole
// message.
#pragma once

#include <zmq.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transport/zeromq/receive_limit.hpp"

namespace echoform {

/// Written by the thread that reads a socket, read by the one that guards it.
class MessageMarks {
 public:
  /// Notes the connection of a message that was received, by any of its parts but a ROUTER's identity, and how many bytes it was
  /// on its way. Neither waits nor allocates.
  void note(zmq::message_t& message, std::uint64_t bytes) noexcept {
    const int descriptor = ::zmq_msg_get(message.handle(), ZMQ_SRCFD);
    if (descriptor < 0) return;
    counts_[place(descriptor)].fetch_add(1, std::memory_order_relaxed);
    allow_between_messages(descriptor, bytes);
  }
  /// Changes with every message of the connection that has this descriptor.
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
