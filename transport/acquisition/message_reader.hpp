// Reads and checks the prefix and the header of one acquisition message, for every transport. It uses no sockets and no
// exceptions, and remembers no earlier messages; the caller decides which message may come when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "acquisition/frame_layout.hpp"
#include "base/text.hpp"
#include "pipeline/frame_intake.hpp"
#include "transport/acquisition/framing.hpp"

namespace echoform {

namespace wire {
class End;
class Hello;
class Shot;
}  // namespace wire

/// Why bytes were not a valid message at this point.
enum class DecodeReason : std::uint8_t {
  bad_magic,
  bad_version,
  bad_type,
  bad_header_length,
  bad_payload_length,  ///< not as the Hello states for this transmit, or a payload that must not be there
  bad_checksum,
  bad_header,  ///< not the Protocol Buffers message that the type announces, or a field out of its range
  bad_hello,   ///< a field of the Hello out of its range, or contradicting what the sender said before
  bad_transmit,
  unexpected_message,  ///< a Shot before the Hello, a second Hello, an answer from a sender
  truncated,           ///< the connection, or the ZeroMQ message, ended within a message
};
inline constexpr std::size_t decode_reason_count = 11;

namespace words {
inline constexpr auto decode_reason =
    make_words(std::pair<DecodeReason, std::string_view>{DecodeReason::bad_magic, "bad_magic"},
               std::pair<DecodeReason, std::string_view>{DecodeReason::bad_version, "bad_version"},
               std::pair<DecodeReason, std::string_view>{DecodeReason::bad_type, "bad_type"},
               std::pair<DecodeReason, std::string_view>{DecodeReason::bad_header_length, "bad_header_length"},
               std::pair<DecodeReason, std::string_view>{DecodeReason::bad_payload_length, "bad_payload_length"},
               std::pair<DecodeReason, std::string_view>{DecodeReason::bad_checksum, "bad_checksum"},
               std::pair<DecodeReason, std::string_view>{DecodeReason::bad_header, "bad_header"},
               std::pair<DecodeReason, std::string_view>{DecodeReason::bad_hello, "bad_hello"},
               std::pair<DecodeReason, std::string_view>{DecodeReason::bad_transmit, "bad_transmit"},
               std::pair<DecodeReason, std::string_view>{DecodeReason::unexpected_message, "unexpected_message"},
               std::pair<DecodeReason, std::string_view>{DecodeReason::truncated, "truncated"});
}  // namespace words

struct DecodeError {
  DecodeReason reason = DecodeReason::bad_magic;
  std::string text;  ///< one line: "WHERE: found FOUND; expected EXPECTED"
};

/// The error of a Hello whose header cannot be parsed as a message.
[[nodiscard]] DecodeError damaged_hello();

/// Every function but the getters returns whether the bytes that it checked are valid. If not, error() states the reason.
class MessageReader {
 public:
  MessageReader();
  ~MessageReader();
  MessageReader(const MessageReader&) = delete;
  MessageReader& operator=(const MessageReader&) = delete;

  /// Checks magic and version, and that a sender may send this type.
  [[nodiscard]] bool read_prefix(std::span<const std::byte, prefix_bytes> bytes);
  /// Checks the lengths in the prefix against its type: the header's length, and that there is no payload. The payload
  /// length of a Shot is checked by check_shot(), once its header is read.
  [[nodiscard]] bool check_lengths();
  /// Reads the fields of a Hello's header, whose checksum is right.
  [[nodiscard]] bool read_hello(std::span<const std::byte> header);
  /// Both functions check the checksum of the header that belongs to the last prefix, and read its fields. The fields of an
  /// End are ignored where they cannot be parsed.
  [[nodiscard]] bool read_shot(std::span<const std::byte> header);
  [[nodiscard]] bool read_end(std::span<const std::byte> header);
  /// Whether the header belongs to the prefix that was read last.
  [[nodiscard]] bool check_checksum(std::span<const std::byte> header);
  /// Whether transmit and payload length of the last shot fit frames of this layout.
  [[nodiscard]] bool check_shot(const FrameLayout& layout);

  [[nodiscard]] const MessagePrefix& prefix() const noexcept { return prefix_; }
  [[nodiscard]] MessageType type() const noexcept { return static_cast<MessageType>(prefix_.type); }
  [[nodiscard]] const wire::Hello& hello() const noexcept { return *hello_; }
  [[nodiscard]] const ShotHeader& shot() const noexcept { return shot_; }
  /// The session of the Shot or End that was read last; 0 where it states none.
  [[nodiscard]] std::uint64_t session() const noexcept { return session_; }
  [[nodiscard]] const DecodeError& error() const noexcept { return error_; }

 private:
  bool fail(DecodeReason reason, std::string text);

  std::array<std::byte, prefix_bytes> bytes_;
  MessagePrefix prefix_;
  std::unique_ptr<wire::Hello> hello_;
  std::unique_ptr<wire::Shot> shot_message_;
  std::unique_ptr<wire::End> end_message_;
  ShotHeader shot_;
  std::uint64_t session_ = 0;
  DecodeError error_;
};

}  // namespace echoform
