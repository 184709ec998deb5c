// The subscriptions to an XPUB socket.
#pragma once

#include <zmq.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "transport/zeromq/context.hpp"

namespace echoform {

/// Prefixes come from peers, so that their number and their total length are limited. Beyond the limit, the peer that has
/// sent the most is disconnected. libzmq keeps them in a tree with a node for each byte, which it walks as a whole when a
/// subscriber leaves, about 10,000 nodes a millisecond.
class Subscriptions {
 public:
  static constexpr std::size_t maximum_count = 1024;
  static constexpr std::size_t maximum_bytes = 16 * 1024;

  explicit Subscriptions(ZeromqContext& context) : context_(context) {}

  /// Takes subscriptions that have arrived, at most `at_most` messages. Call it on the thread that owns the socket.
  /// Allocates only if something has arrived. Until then libzmq keeps subscriptions without a limit.
  void read(zmq::socket_t& socket, int at_most);

  /// The beginnings of messages that wanted() is about. Any thread.
  void follow(std::vector<std::string> beginnings);
  /// Whether somebody may want messages that begin with one of them. Any thread; reads an atomic.
  [[nodiscard]] bool wanted() const noexcept { return wanted_.load(std::memory_order_relaxed); }

 private:
  void add(std::string_view prefix);
  void remove(std::string_view prefix);
  void note();
  [[nodiscard]] bool wanted(std::string_view begin) const;

  ZeromqContext& context_;
  std::mutex mutex_;  // never held inside libzmq
  std::vector<std::string> followed_;
  std::set<std::string, std::less<>> prefixes_;
  std::size_t bytes_ = 0;        // of prefixes_
  std::size_t passed_over_ = 0;  // prefixes beyond the limit; while there are any, everything counts as wanted
  std::atomic<bool> wanted_{false};
};

}  // namespace echoform
