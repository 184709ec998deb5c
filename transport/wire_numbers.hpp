#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/function_ref.hpp"

namespace google::protobuf {
class Descriptor;
}

namespace echoform {

/// The first integer of a message on the wire that does not fit its field, as "samples: found 4294967296; expected at most
/// 4294967295"; nothing where all fit. Protocol Buffers keeps the low bits of such a number, so that it would be taken for
/// another one. Bytes that are no such message are left to its parser. Allocates nothing unless it finds one. `type` is the
/// message's.
[[nodiscard]] std::optional<std::string> find_wide_number(std::span<const std::byte> bytes,
                                                          const google::protobuf::Descriptor& type);

/// How often a message on the wire states field `field`, up to the first bytes that are no field. So the number of messages
/// in a repeated field is known before they are parsed.
[[nodiscard]] std::size_t count_field(std::span<const std::byte> bytes, std::uint32_t field);

/// A field of a message on the wire, outside of groups: an integer, or a text or bytes.
struct WireField {
  std::uint64_t field = 0;
  std::optional<std::uint64_t> integer;
  std::string_view text;  ///< of the message's bytes
};
/// Calls `take` for each such field, in order. Returns whether the bytes are fields to their end. Does not interpret the
/// fields.
[[nodiscard]] bool read_fields(std::span<const std::byte> bytes, FunctionRef<void(const WireField&)> take);

/// Fills `message` from bytes; false where they are no such message, or hold a number that does not fit its field.
template <class Message>
[[nodiscard]] bool parse_message(std::span<const std::byte> bytes, Message& message) {
  return !find_wide_number(bytes, *Message::descriptor()) && message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

}  // namespace echoform
