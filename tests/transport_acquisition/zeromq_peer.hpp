// Raw PUSH sockets, and senders that others are tried beside.
#pragma once

#include <gtest/gtest.h>
#include <zmq.hpp>

#include <optional>
#include <string>
#include <vector>

#include "tests/support/patience.hpp"
#include "tests/transport_acquisition/whole_messages.hpp"
#include "transport/zeromq/curve_keys.hpp"
#include "transport/zeromq/socket.hpp"

namespace echoform::testing_support {

/// Pushes whatever a test passes to it, with no rules but libzmq's.
class RawPusher {
 public:
  explicit RawPusher(std::uint16_t port, const std::optional<CurveClientKeys>& keys = {}) {
    ConnectOptions options{.type = zmq::socket_type::push, .endpoint = "tcp://127.0.0.1:" + std::to_string(port), .keys = keys};
    options.send_queue = 1000;
    socket_ = connect_socket(context_, options);
    constexpr auto limit = static_cast<int>(std::chrono::milliseconds(patience).count());
    socket_.set(zmq::sockopt::sndtimeo, limit);
    // What was pushed before close() still arrives.
    socket_.set(zmq::sockopt::linger, limit);
  }
  ~RawPusher() { socket_.set(zmq::sockopt::linger, 0); }
  RawPusher(const RawPusher&) = delete;
  RawPusher& operator=(const RawPusher&) = delete;

  void send(const Bytes& message, bool more = false) {
    const auto flags = more ? zmq::send_flags::sndmore : zmq::send_flags::none;
    ASSERT_TRUE(socket_.send(zmq::buffer(message.data(), message.size()), flags)) << "nobody takes it";
  }
  /// Unless libzmq has given the connection up, as it does once a server has refused its keys.
  void offer(const Bytes& message) {
    static_cast<void>(socket_.send(zmq::buffer(message.data(), message.size()), zmq::send_flags::dontwait));
  }
  void send(const std::vector<Bytes>& messages) {
    for (const Bytes& message : messages) send(message);
  }
  /// Ends the connection once everything has left.
  void close() {
    socket_.close();
    context_.close();
  }

 private:
  zmq::context_t context_;
  zmq::socket_t socket_;
};

}  // namespace echoform::testing_support
