// State of the connection of a connecting socket.
#pragma once

#include <cstdint>
#include <string>
#include <zmq.hpp>

namespace echoform {

enum class ConnectionState : std::uint8_t {
  absent,       ///< nobody answers at the endpoint
  unanswered,   ///< something takes the connection, but does not shake hands: no such server, or other keys
  established,  ///< a server with the same protocol and matching keys
};

/// Reads what libzmq reports of one socket. One thread at a time, which need not be the socket's.
class ConnectionWatch {
 public:
  /// What ConnectOptions::report_to names. A context has one socket that reports there.
  static constexpr const char* endpoint = "inproc://connection";

  /// Watches the socket of `context` that reports to `endpoint`. That socket may be connected already or not.
  explicit ConnectionWatch(zmq::context_t& context);

  /// As of the last report that has come. Does not wait.
  [[nodiscard]] ConnectionState state();

 private:
  zmq::socket_t reports_;
  ConnectionState state_ = ConnectionState::absent;
};

/// Makes `socket` report to `endpoint` from now on. Call it before the socket connects. Throws zmq::error_t.
void report_connection(zmq::socket_t& socket, const std::string& endpoint);

}  // namespace echoform
