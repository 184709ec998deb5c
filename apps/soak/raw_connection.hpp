// A TCP connection for doing what no well-behaved peer does: half a message, no end, an abrupt reset.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/configuration.hpp"

namespace echoform::soak {

/// One thread at a time.
class RawConnection {
 public:
  /// Connects; RuntimeFault if it cannot. `receive_buffer` bytes are asked of the system for what is not read; 0: its own choice.
  explicit RawConnection(const HostPort& place, int receive_buffer = 0);
  ~RawConnection();
  RawConnection(RawConnection&& other) noexcept;
  RawConnection& operator=(RawConnection&& other) noexcept;

  /// False if the peer does not take all of it.
  bool send(std::span<const std::byte> bytes);
  bool send(std::string_view text) { return send(std::as_bytes(std::span(text))); }
  /// As much as fits now of these bytes over and over, from where the last call ended, without waiting. False once the peer has
  /// gone. One who waits for a peer that has cut him off may not learn it for long: the system opens no window for what nobody
  /// will read.
  bool send_some(std::string_view over_and_over);
  /// Says that nothing more will come.
  void end_sending();
  /// Ends abruptly: the peer finds a reset.
  void reset();

  enum class Outcome { bytes, silence, closed };
  /// Waits until something has come and appends it, at most 64 KiB at a time.
  Outcome read(std::string& into, std::chrono::milliseconds timeout);
  /// All that comes until the peer closes; nothing if it has not within `patience`.
  std::optional<std::string> read_to_end(std::chrono::milliseconds patience);
  /// Whether the peer has closed, whatever it sent before. Does not wait, reads nothing.
  [[nodiscard]] bool closed_by_peer() const;

 private:
  int socket_ = -1;
  std::size_t sent_ = 0;  // by send_some()
};

struct HttpAnswer {
  int status = 0;  ///< 0: the server closed without one
  std::string body;
};

/// Sends `request` as it is and reads the answer to its end. RuntimeFault if the server does not close within `patience`.
[[nodiscard]] HttpAnswer ask_http(const HostPort& place, std::string_view request, std::chrono::milliseconds patience);

/// "GET target", with the headers that a browser sends and the token where it is not empty.
[[nodiscard]] std::string http_request(const HostPort& place, std::string_view target, std::string_view token,
                                       std::string_view more_headers = "Connection: close\r\n");

}  // namespace echoform::soak
