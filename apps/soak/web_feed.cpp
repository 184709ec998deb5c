#include "apps/soak/web_feed.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "base/errors.hpp"

namespace echoform::soak {

std::string web_socket_request(const Places& places, std::string_view origin) {
  std::string headers =
      "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: c29hay1zb2FrLXNvYWstcw==\r\n";
  if (!origin.empty()) headers += fmt::format("Origin: {}\r\n", origin);
  return http_request(places.web, "/images", places.web_token, headers);
}

WebFeed::WebFeed(const Places& places, int receive_buffer) : connection_(places.web, receive_buffer) {
  static_cast<void>(connection_.send(web_socket_request(places)));
  std::size_t end = std::string::npos;
  while (end == std::string::npos) {
    if (connection_.read(received_, patience) != RawConnection::Outcome::bytes) break;
    end = received_.find("\r\n\r\n");
  }
  if (end == std::string::npos || !received_.starts_with("HTTP/1.1 101")) {
    throw RuntimeFault(fmt::format("the web server refused a viewer: {}", received_.substr(0, received_.find('\r'))));
  }
  received_.erase(0, end + 4);
}

WebFeed::Outcome WebFeed::next(std::string& message, std::chrono::milliseconds timeout) {
  const auto byte = [&](std::size_t at) { return static_cast<std::uint64_t>(static_cast<unsigned char>(received_[at])); };
  for (;;) {
    std::size_t head = 2;
    std::uint64_t length = 0;
    bool whole = received_.size() >= head;
    if (whole) {
      length = byte(1) & 0x7F;
      const std::size_t more = length == 126 ? 2 : length == 127 ? 8 : 0;
      head += more;
      whole = received_.size() >= head;
      if (more > 0 && whole) {
        length = 0;
        for (std::size_t i = 0; i < more; ++i) length = length << 8 | byte(2 + i);
      }
      whole = whole && received_.size() - head >= length;
    }
    if (!whole) {
      switch (connection_.read(received_, timeout)) {
        case RawConnection::Outcome::bytes:
          continue;
        case RawConnection::Outcome::silence:
          return Outcome::silence;
        case RawConnection::Outcome::closed:
          return Outcome::closed;
      }
    }
    const std::uint64_t kind = byte(0) & 0x0F;
    message.assign(received_, head, static_cast<std::size_t>(length));
    received_.erase(0, head + static_cast<std::size_t>(length));
    if (kind == 0x2) return Outcome::image;
    if (kind == 0x8) return Outcome::closed;
    if (kind == 0x9 && !send_frame(0x8A, message)) return Outcome::closed;
  }
}

bool WebFeed::send_frame(unsigned first_byte, std::string_view payload) {
  // Clients must mask what they send; a mask of zeros leaves it unchanged.
  std::string frame{static_cast<char>(first_byte), static_cast<char>(0x80U | payload.size()), '\0', '\0', '\0', '\0'};
  frame += payload;
  return connection_.send(frame);
}

}  // namespace echoform::soak
