// Requests over ZeroMQ that wait for their turn, a few of each client.
#pragma once

#include <zmq.hpp>

#include <cstddef>
#include <deque>
#include <list>
#include <vector>

namespace echoform {

/// All parts; the client's identity is the first.
using ControlMessage = std::vector<zmq::message_t>;

/// Clients take turns, however many requests of each wait.
class WaitingRequests {
 public:
  static constexpr std::size_t most_of_one = 4;
  static constexpr std::size_t most = 128;  ///< of all clients: one that reconnects has a new identity each time

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  /// Whether the message cannot be added.
  [[nodiscard]] bool full_for(const ControlMessage& message) const;
  /// Adds a message of at least one part. Expects that full_for() is false for it.
  void add(ControlMessage message);
  /// Takes the oldest request of the client whose turn it is. Expects that requests wait.
  [[nodiscard]] ControlMessage next();

 private:
  using Client = std::deque<ControlMessage>;  // with one message at least
  std::list<Client> clients_;                 // the client whose turn it is comes first
  std::size_t size_ = 0;
};

}  // namespace echoform
