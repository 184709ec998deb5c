// Clients that connect to and leave a ZeroMQ socket of the server, and send what costs the server most.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "apps/soak/judge.hpp"

namespace echoform::soak {

/// What a ZeroMQ socket of this type ("SUB", "REQ") without keys sends before its first message (ZMTP 3.0: greeting, then READY).
[[nodiscard]] std::string zeromq_handshake(std::string_view type);

enum class AttackKind : std::uint8_t {
  subscriptions,  ///< long ones, longer ones than are taken, many short ones, and what a subscriber may have, held for a while
  requests,       ///< garbage of the longest length, small ones that are understood, and messages without an end
};

/// Attacks from its construction to its destruction, which waits until the last client has gone.
class Attack {
 public:
  Attack(AttackKind kind, const std::string& endpoint, std::size_t clients, std::uint64_t seed);
  ~Attack();
  Attack(const Attack&) = delete;
  Attack& operator=(const Attack&) = delete;
  /// Connections that were made so far.
  [[nodiscard]] std::uint64_t connections() const { return connections_.load(); }

 private:
  void run(AttackKind kind, const HostPort& place, std::uint64_t seed, const std::stop_token& stop);

  std::atomic<std::uint64_t> connections_{0};
  std::vector<std::jthread> clients_;
};

}  // namespace echoform::soak
