// The text form of an endpoint's host and port.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace echoform {

/// "127.0.0.1:1067", "[::1]:1067", "instrument:1067".
[[nodiscard]] inline std::string host_port_text(std::string_view host, std::uint16_t port) {
  const bool v6 = host.find(':') != std::string_view::npos;
  std::string text;
  if (v6) text += '[';
  text += host;
  if (v6) text += ']';
  text += ':';
  text += std::to_string(port);
  return text;
}

}  // namespace echoform
