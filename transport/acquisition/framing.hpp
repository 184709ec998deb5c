// The frame around every acquisition message: a fixed 24-byte prefix, a Protocol Buffers header, raw samples.
// proto/WIRE.md documents it for those who write the other end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/frame_intake.hpp"

namespace echoform {

enum class MessageType : std::uint16_t { hello = 1, accept = 2, reject = 3, shot = 4, end = 5 };

inline constexpr std::string_view wire_magic = "EFRM";
inline constexpr std::uint16_t wire_version = 1;
inline constexpr std::size_t prefix_bytes = 24;
inline constexpr std::size_t checksummed_prefix_bytes = 20;
inline constexpr std::size_t maximum_hello_bytes = std::size_t{1} << 20;  ///< header of a Hello
inline constexpr std::size_t maximum_events = 4096;                       ///< that a Hello lists
inline constexpr std::size_t maximum_positions = 256;                     ///< likewise
inline constexpr std::size_t maximum_header_bytes = 256;                  ///< header of a Shot or an End
inline constexpr std::size_t maximum_answer_bytes = 4096;                 ///< header of an Accept or a Reject
inline constexpr std::uint32_t maximum_connections_per_sender = 8;
inline constexpr std::uint16_t default_acquisition_port = 17171;  ///< TCP
inline constexpr std::uint16_t default_zeromq_port = 17172;

/// The prefix as it was read; nothing in it has been checked.
struct MessagePrefix {
  bool magic_matches = false;
  std::uint16_t version = 0;
  std::uint16_t type = 0;
  std::uint32_t header_bytes = 0;
  std::uint64_t payload_bytes = 0;
  std::uint32_t checksum = 0;
};

[[nodiscard]] MessagePrefix read_prefix(std::span<const std::byte, prefix_bytes> bytes) noexcept;

/// CRC-32C (Castagnoli: polynomial 0x1EDC6F41, reflected, initial value and final exclusive-or 0xFFFFFFFF) of the first 20
/// bytes of the prefix followed by the header.
[[nodiscard]] std::uint32_t message_checksum(std::span<const std::byte, checksummed_prefix_bytes> prefix,
                                             std::span<const std::byte> header) noexcept;

/// Writes the prefix that belongs to `header`.
void write_prefix(std::span<std::byte, prefix_bytes> out, MessageType type, std::span<const std::byte> header,
                  std::uint64_t payload_bytes) noexcept;

/// Prefix and header of a message without payload.
[[nodiscard]] std::vector<std::byte> encode_message(MessageType type, std::string_view header);

/// Maximum number of bytes of a Shot's prefix and header: five varints of at most ten bytes, each with its tag.
inline constexpr std::size_t maximum_encoded_shot_bytes = prefix_bytes + 5 * 11;

/// Writes prefix and header of a Shot as the Protocol Buffers library would, without allocating. Returns the bytes written.
/// A `session` of 0 is left out, as over TCP.
[[nodiscard]] std::size_t encode_shot(std::span<std::byte, maximum_encoded_shot_bytes> out, const ShotHeader& shot,
                                      std::uint64_t payload_bytes, std::uint64_t session = 0) noexcept;

}  // namespace echoform
