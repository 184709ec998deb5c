// Memory of messages that are being sent to subscribers.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>

namespace echoform {

/// A buffer is written by one thread, handed to the thread of a PublisherSocket, and given back by a thread of libzmq when
/// the last subscriber has the message. It must live until then: destroy the socket before its buffers.
class MessageBuffer {
 public:
  /// A buffer for repeated use.
  explicit MessageBuffer(std::size_t capacity) : MessageBuffer(capacity, false) {}
  /// A buffer for a single message of `bytes`, already taken. Giving it back deletes it.
  [[nodiscard]] static MessageBuffer& for_one_message(std::size_t bytes);

  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] bool taken() const noexcept { return taken_.load(std::memory_order_acquire); }
  /// Takes the buffer for a message of `bytes`, at most the capacity. False if a message in it is still on its way.
  [[nodiscard]] bool take(std::size_t bytes) noexcept {
    if (taken()) return false;
    taken_.store(true, std::memory_order_relaxed);
    bytes_ = bytes;
    return true;
  }
  /// The bytes of the message.
  [[nodiscard]] std::span<std::byte> message() noexcept { return {memory_.get(), bytes_}; }
  /// Any thread; the buffer may be gone afterwards.
  void give_back() noexcept;

 private:
  MessageBuffer(std::size_t capacity, bool for_one_message)
      : memory_(std::make_unique_for_overwrite<std::byte[]>(capacity)), capacity_(capacity), for_one_message_(for_one_message) {}

  std::unique_ptr<std::byte[]> memory_;
  std::size_t capacity_;
  std::size_t bytes_ = 0;
  const bool for_one_message_;
  std::atomic<bool> taken_{false};
};

}  // namespace echoform
