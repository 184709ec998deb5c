// Parses what clients send, as it arrives. Only the check sum of a body is kept, since a server of images only needs the
// headers of the questions that it answers.
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

/// Longer bodies are refused: no question needs as much, and clients send no images.
inline constexpr std::uint64_t most_body_bytes = std::uint64_t{1} << 20;

struct ReceivedMessage {
  std::uint16_t version = first_version;  ///< of its header: 1 or 2
  std::string type;                       ///< "GET_STATUS": 1 to 12 printable letters
  std::string device;                     ///< at most 20 letters; those that are not printable ASCII as '?'
  std::uint64_t timestamp = 0;
  std::uint64_t body_bytes = 0;
};

/// Takes bytes in any portions. Holds no more than one header.
class MessageParser {
 public:
  /// Calls `tell` for each message once it is whole and its check sum is right. Returns what is wrong, if anything; nothing
  /// after the fault is read. Where `tell` returns false, the rest of the bytes is not read: `bytes` then begins with that
  /// rest.
  [[nodiscard]] std::optional<std::string> take(std::span<const std::byte>& bytes,
                                                const std::function<bool(const ReceivedMessage& message)>& tell);
  /// Whether a message has begun and is not whole.
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
