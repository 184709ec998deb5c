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

/// Clients take turns, however many requests each has here.
class WaitingRequests {
 public:
  static constexpr std::size_t most_of_one = 4;
  static constexpr std::size_t most = 128;  ///< of all: clients that come and go have a new identity each time

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  /// Whether there is no room for this message.
  [[nodiscard]] bool full_for(const ControlMessage& message) const;
  /// Which has a part, at least, and room.
  void add(ControlMessage message);
  /// Takes the oldest request of the client whose turn it is. Expects that requests wait.
  [[nodiscard]] ControlMessage next();

 private:
  using Client = std::deque<ControlMessage>;  // with one message at least
  std::list<Client> clients_;                 // whose turn it is, first
  std::size_t size_ = 0;
};

}  // namespace echoform
