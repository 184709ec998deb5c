// What clients send, taken apart as it comes. Of a body nothing is kept but its check sum: the questions that a server of images
// answers are their headers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "transport/openigtlink/messages.hpp"

namespace echoform::openigtlink {

/// Bodies that are longer are refused: no question needs as much, and images are sent from here, not to here.
inline constexpr std::uint64_t most_body_bytes = std::uint64_t{1} << 20;

struct ReceivedMessage {
  std::uint16_t version = first_version;  ///< of its header: 1 or 2
  std::string type;                       ///< "GET_STATUS": 1 to 12 printable letters
  std::string device;                     ///< at most 20 letters, those that are no ASCII or not printable as '?'
  std::uint64_t timestamp = 0;
  std::uint64_t body_bytes = 0;
};

/// Takes bytes in any portions. Its memory is that of one header.
class MessageParser {
 public:
  /// Tells of each message once it is whole and its check sum holds. Returns what is wrong, if anything; nothing is read behind
  /// it. `tell` returns false to have the rest of the bytes left alone: then `bytes` begins with them.
  [[nodiscard]] std::optional<std::string> take(std::span<const std::byte>& bytes,
                                                const std::function<bool(const ReceivedMessage& message)>& tell);
  /// Whether a message has begun that is not at its end.
  [[nodiscard]] bool within_message() const noexcept { return have_ > 0; }

 private:
  [[nodiscard]] std::optional<std::string> read_header();
  [[nodiscard]] std::optional<std::string> check_body() const;

  std::array<std::byte, header_bytes> header_{};
  std::array<std::byte, extended_header_bytes> extended_{};
  std::uint64_t have_ = 0;  ///< bytes of this message so far
  std::uint64_t sum_ = 0;   ///< of its body's
  std::uint64_t stated_ = 0;
  ReceivedMessage message_;
};

}  // namespace echoform::openigtlink
