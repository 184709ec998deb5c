// The image feed of the web server as a program reads it, without a browser: WebSocket frames taken apart by hand, so that a
// viewer can also misbehave in the middle of one.
#pragma once

#include <string>
#include <string_view>

#include "apps/soak/judge.hpp"
#include "apps/soak/raw_connection.hpp"

namespace echoform::soak {

class WebFeed {
 public:
  /// Opens a feed of the first stream. RuntimeFault unless the server agrees.
  explicit WebFeed(const Places& places, int receive_buffer = 0);

  enum class Outcome { image, silence, closed };
  /// The next image's bytes into `message`. Answers pings. Waits at most `timeout` for each piece.
  Outcome next(std::string& message, std::chrono::milliseconds timeout);
  /// Sends a text: "ready" asks for the next image. False if the server has gone.
  bool say(std::string_view text) { return send_frame(0x81, text); }
  /// Says that it will close; the server then does.
  bool say_goodbye() { return send_frame(0x88, "\x03\xe8"); }
  [[nodiscard]] RawConnection& connection() { return connection_; }

 private:
  bool send_frame(unsigned first_byte, std::string_view payload);

  RawConnection connection_;
  std::string received_;
};

/// What opens a WebSocket, with `origin` unless it is empty.
[[nodiscard]] std::string web_socket_request(const Places& places, std::string_view origin = {});

}  // namespace echoform::soak
