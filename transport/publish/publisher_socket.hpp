// A publishing ZeroMQ socket together with the only thread that uses it. libzmq does the work that subscribers cause on the
// thread that uses the socket: it takes their subscriptions, and walks the tree of all subscriptions when a subscriber
// leaves. Nobody else should wait for that. So messages are handed over to that thread, and an atomic states whether
// somebody subscribes to a stream.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/wake_bell.hpp"
#include "base/worker.hpp"
#include "pipeline/edge.hpp"
#include "transport/publish/message_buffer.hpp"
#include "transport/zeromq/context.hpp"
#include "transport/zeromq/subscriptions.hpp"

namespace echoform {

struct PublisherSocketOptions {
  std::string what;                       ///< "image publisher": for messages
  std::string thread;                     ///< the thread's name
  std::string address = "127.0.0.1";      ///< IPv4 or IPv6 address to listen on; "*" for all interfaces
  std::uint16_t port = 0;                 ///< 0: any free one
  std::size_t queued = 16;                ///< messages that may wait for one subscriber
  std::size_t handed_over = 16;           ///< messages that may wait for the thread
  std::size_t subscribers = 32;           ///< at once; further ones are disconnected
  std::optional<CurveServerKeys> keys{};  ///< only clients with CURVE are served, those that they list
};

class PublisherSocket {
 public:
  /// Binds and starts the thread. Throws InputError for a bad address, RuntimeFault (naming the endpoint) if it cannot be bound.
  explicit PublisherSocket(const PublisherSocketOptions& options);
  /// Sends what has been handed over, as far as the subscribers' queues take it, then closes the socket. Waits for no peer.
  ~PublisherSocket();
  PublisherSocket(const PublisherSocket&) = delete;
  PublisherSocket& operator=(const PublisherSocket&) = delete;

  /// Hands a message over; messages go out in this order. Returns false, and gives the buffer back, if `handed_over`
  /// messages wait already: that message is lost to all subscribers, and counted. A subscriber whose queue is full loses
  /// messages too. Call it from one thread at a time, and call wake() afterwards. Never enters libzmq, never waits,
  /// allocates nothing.
  bool offer(MessageBuffer& message) noexcept;
  /// Whether offer() would lose the next message. If so, that message is counted as lost.
  [[nodiscard]] bool full() noexcept;
  /// Wakes the thread. Call it once after the last of several offer()s.
  void wake() const noexcept { bell_.ring(); }
  /// Messages that the thread did not take in time.
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

  /// The beginnings of messages that wanted() is about. Any thread.
  void follow(std::vector<std::string> beginnings) { subscriptions_.follow(std::move(beginnings)); }
  /// Whether somebody subscribes to a message that begins with one of them. Any thread; reads an atomic.
  [[nodiscard]] bool wanted() const noexcept { return subscriptions_.wanted(); }

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// "tcp://127.0.0.1:17180", as a subscriber on this host connects to it.
  [[nodiscard]] std::string endpoint() const;
  [[nodiscard]] const PeerCounters& peers() const noexcept { return context_.peers(); }

 private:
  void run(const std::stop_token& stop);
  void send_waiting();
  void send(MessageBuffer& buffer);

  const std::string what_;
  const std::string address_;
  const WakeBell bell_;
  Edge<MessageBuffer*, DropPolicy::drop_newest> waiting_;
  std::atomic<std::uint64_t> lost_{0};
  ZeromqContext context_;
  Subscriptions subscriptions_;
  zmq::socket_t socket_;  // made by the constructor, then the thread's alone
  std::uint16_t port_;
  bool complained_ = false;       // the thread's
  std::optional<Worker> worker_;  // last: ends before the rest goes
};

}  // namespace echoform
