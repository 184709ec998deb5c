#include "transport/acquisition/framing.hpp"

#include <boost/crc.hpp>

#include <cstring>

namespace echoform {
namespace {

template <class Unsigned>
Unsigned load(const std::byte* from) noexcept {
  Unsigned value = 0;
  for (std::size_t i = sizeof(Unsigned); i-- > 0;) {
    value = static_cast<Unsigned>((static_cast<std::uint64_t>(value) << 8) | std::to_integer<std::uint8_t>(from[i]));
  }
  return value;
}

template <class Unsigned>
void store(std::byte* to, Unsigned value) noexcept {
  for (std::size_t i = 0; i < sizeof(Unsigned); ++i) to[i] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i));
}

/// Appends one varint field, a zero too.
std::byte* put_stated(std::byte* to, std::uint8_t number, std::uint64_t value) noexcept {
  *to++ = static_cast<std::byte>(number << 3);
  while (value >= 0x80) {
    *to++ = static_cast<std::byte>((value & 0x7F) | 0x80);
    value >>= 7;
  }
  *to++ = static_cast<std::byte>(value);
  return to;
}

/// Appends one varint field, or nothing where the value is zero: proto3 leaves zeros out.
std::byte* put_field(std::byte* to, std::uint8_t number, std::uint64_t value) noexcept {
  return value == 0 ? to : put_stated(to, number, value);
}

/// Encodes a sint64: small numbers of either sign take few bytes (Protocol Buffers, "ZigZag").
std::uint64_t zigzag(std::int64_t value) noexcept {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

}  // namespace

MessagePrefix read_prefix(std::span<const std::byte, prefix_bytes> bytes) noexcept {
  const std::byte* at = bytes.data();
  return {.magic_matches = std::memcmp(at, wire_magic.data(), wire_magic.size()) == 0,
          .version = load<std::uint16_t>(at + 4),
          .type = load<std::uint16_t>(at + 6),
          .header_bytes = load<std::uint32_t>(at + 8),
          .payload_bytes = load<std::uint64_t>(at + 12),
          .checksum = load<std::uint32_t>(at + 20)};
}

std::uint32_t message_checksum(std::span<const std::byte, checksummed_prefix_bytes> prefix,
                               std::span<const std::byte> header) noexcept {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(prefix.data(), prefix.size());
  crc.process_bytes(header.data(), header.size());
  return crc.checksum();
}

void write_prefix(std::span<std::byte, prefix_bytes> out, MessageType type, std::span<const std::byte> header,
                  std::uint64_t payload_bytes) noexcept {
  std::byte* at = out.data();
  std::memcpy(at, wire_magic.data(), wire_magic.size());
  store(at + 4, wire_version);
  store(at + 6, static_cast<std::uint16_t>(type));
  store(at + 8, static_cast<std::uint32_t>(header.size()));
  store(at + 12, payload_bytes);
  store(at + 20, message_checksum(out.first<checksummed_prefix_bytes>(), header));
}

std::vector<std::byte> encode_message(MessageType type, std::string_view header) {
  std::vector<std::byte> message(prefix_bytes + header.size());
  if (!header.empty()) std::memcpy(message.data() + prefix_bytes, header.data(), header.size());
  write_prefix(std::span(message).first<prefix_bytes>(), type, std::span(message).subspan(prefix_bytes), 0);
  return message;
}

std::size_t encode_shot(std::span<std::byte, maximum_encoded_shot_bytes> out, const ShotHeader& shot, std::uint64_t payload_bytes,
                        std::uint64_t session) noexcept {
  std::byte* const header = out.data() + prefix_bytes;
  std::byte* to = put_field(header, 1, shot.sequence);
  to = put_field(to, 2, shot.transmit);
  to = put_field(to, 3, static_cast<std::uint64_t>(shot.acquisition_time.count()));
  to = put_field(to, 4, session);
  if (shot.position) to = put_stated(to, 5, zigzag(*shot.position));  // a count of 0 is sent, too
  const auto length = static_cast<std::size_t>(to - header);
  write_prefix(out.first<prefix_bytes>(), MessageType::shot, {header, length}, payload_bytes);
  return prefix_bytes + length;
}

}  // namespace echoform
