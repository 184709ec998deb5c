// This is a separate file because glibc's <netinet/tcp.h>, which asio includes, has an older tcp_info.
#include "transport/zeromq/received_bytes.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>

namespace echoform {

std::optional<std::uint64_t> received_bytes(int descriptor) noexcept {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  if (size < offsetof(tcp_info, tcpi_bytes_received) + sizeof(info.tcpi_bytes_received)) return std::nullopt;
  return info.tcpi_bytes_received;
}

std::optional<std::uint64_t> read_bytes(int descriptor) noexcept {
  const auto received = received_bytes(descriptor);
  // This is queried second: bytes that arrive in between make the answer smaller, never larger.
  int waiting = 0;
  if (!received || ::ioctl(descriptor, FIONREAD, &waiting) != 0 || waiting < 0) return std::nullopt;
  return *received - std::min(*received, static_cast<std::uint64_t>(waiting));
}

}  // namespace echoform
