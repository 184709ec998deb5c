// One connection of an acquisition sender: blocking, used by one thread at a time.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "pipeline/frame_intake.hpp"
#include "proto/acquisition.pb.h"
#include "transport/acquisition/framing.hpp"
#include "transport/acquisition/sender.hpp"

namespace echoform {

class SenderConnection {
 public:
  /// RuntimeFault if HOST:PORT cannot be reached in time.
  explicit SenderConnection(const SenderOptions& options);

  void send_hello(std::span<const std::byte> message);
  /// Waits for the server's Accept, which must state `frame_bytes`. Throws InputError with the server's reason (ServerBusy
  /// where asking again may help), RuntimeFault if no answer comes in time.
  void await_accept(std::chrono::milliseconds timeout, std::uint64_t frame_bytes);

  /// Adds a shot to a batch, which leaves with one system call when it is full or at flush(). Payloads are not copied.
  void add(const ShotHeader& shot, std::span<const std::byte> payload);
  void flush();

  /// Throws FramesTaken or RuntimeFault where the server has sent something since its Accept, since that ends the
  /// connection. Does not wait.
  void throw_if_ended();

  void say_end();
  /// Waits until the server has read the End and closed.
  void await_close();
  void cancel() noexcept;

  [[nodiscard]] std::uint64_t bytes_sent() const noexcept { return bytes_sent_.load(std::memory_order_relaxed); }

 private:
  void write_all(std::span<boost::asio::const_buffer> buffers);
  [[noreturn]] void fail_lost(const std::string& what);
  [[noreturn]] void fail_by(const wire::Reject& reject) const;
  /// The next message from the server; false if none comes in time or the connection ends.
  bool read_answer(std::chrono::milliseconds timeout, MessageType& type, std::string& header);
  bool run_for(std::chrono::milliseconds timeout);

  static constexpr std::size_t batch_shots = 16;
  static constexpr std::size_t batch_bytes = std::size_t{256} << 10;

  boost::asio::io_context context_{1};
  boost::asio::ip::tcp::socket socket_{context_};
  std::string server_;
  std::stop_token stop_;
  std::array<std::array<std::byte, maximum_encoded_shot_bytes>, batch_shots> headers_{};
  std::array<boost::asio::const_buffer, 2 * batch_shots> batch_;
  std::size_t batched_shots_ = 0;
  std::size_t batched_bytes_ = 0;
  std::atomic<std::uint64_t> bytes_sent_{0};
};

}  // namespace echoform
