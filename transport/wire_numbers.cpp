#include "transport/wire_numbers.hpp"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>

#include <cstdint>
#include <limits>

namespace echoform {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// Wire types (Protocol Buffers, "Encoding").
enum WireType : unsigned char {
  wire_varint = 0,
  wire_64_bits = 1,
  wire_length = 2,
  wire_group = 3,
  wire_group_end = 4,
  wire_32_bits = 5
};

struct Varint {
  std::uint64_t value = 0;
  bool whole = false;  // ends within the bytes, and within ten of them
  bool wide = false;   // more than 64 bits
};

Varint take_varint(std::span<const std::byte>& bytes) {
  Varint varint;
  for (unsigned shift = 0; shift < 70 && !bytes.empty(); shift += 7) {
    const auto byte = std::to_integer<std::uint64_t>(bytes.front());
    bytes = bytes.subspan(1);
    varint.value |= (byte & 0x7F) << shift;
    if (shift == 63 && byte > 1) varint.wide = true;
    if (byte < 0x80) {
      varint.whole = true;
      break;
    }
  }
  return varint;
}

std::optional<std::string> wide(const FieldDescriptor& field, const Varint& number) {
  constexpr std::uint64_t most_unsigned = std::numeric_limits<std::uint32_t>::max();
  constexpr std::uint64_t most_signed = std::numeric_limits<std::int32_t>::max();
  if (number.wide) return fmt::format("{}: found a number of more than 64 bits; expected fewer", field.name());
  switch (field.type()) {
    case FieldDescriptor::TYPE_UINT32:
    case FieldDescriptor::TYPE_SINT32:
      if (number.value > most_unsigned)
        return fmt::format("{}: found {}; expected at most {}", field.name(), number.value, most_unsigned);
      break;
    case FieldDescriptor::TYPE_INT32:
    case FieldDescriptor::TYPE_ENUM:
      // A negative number has all upper bits set.
      if (number.value > most_signed && number.value < ~most_signed)
        return fmt::format("{}: found {}; expected at most {}", field.name(), number.value, most_signed);
      break;
    default:
      break;
  }
  return std::nullopt;
}

/// Skips the contents of a field with this tag; false where they are malformed, or end beyond the bytes.
bool skip_contents(std::span<const std::byte>& bytes, std::uint64_t tag) {
  std::uint64_t length = 0;
  switch (tag & 7) {
    case wire_varint:
      return take_varint(bytes).whole;
    case wire_64_bits:
      length = 8;
      break;
    case wire_32_bits:
      length = 4;
      break;
    case wire_length: {
      const Varint stated = take_varint(bytes);
      if (!stated.whole || stated.wide) return false;
      length = stated.value;
      break;
    }
    case wire_group:
    case wire_group_end:
      return true;
    default:
      return false;
  }
  if (length > bytes.size()) return false;
  bytes = bytes.subspan(static_cast<std::size_t>(length));
  return true;
}

/// Calls `take` for each field. Its arguments: the tag; the contents that follow it, with the length in front for a
/// length-delimited field; the number of unknown groups around the field. True if the bytes are fields to their end.
template <class Take>
bool for_each_field(std::span<const std::byte> bytes, const Take& take) {
  std::size_t groups = 0;
  while (!bytes.empty()) {
    const Varint tag = take_varint(bytes);
    const std::span<const std::byte> contents = bytes;
    if (!tag.whole || tag.wide || !skip_contents(bytes, tag.value)) return false;
    take(tag.value, contents.first(contents.size() - bytes.size()), groups);
    if ((tag.value & 7) == wire_group) ++groups;
    if ((tag.value & 7) == wire_group_end) groups -= groups > 0 ? 1 : 0;
  }
  return true;
}

}  // namespace

std::size_t count_field(std::span<const std::byte> bytes, std::uint32_t field) {
  std::size_t count = 0;
  static_cast<void>(
      for_each_field(bytes, [&](std::uint64_t tag, std::span<const std::byte> /*contents*/, std::size_t /*groups*/) {
        if (tag >> 3 == field) ++count;
      }));
  return count;
}

bool read_fields(std::span<const std::byte> bytes, FunctionRef<void(const WireField&)> take) {
  return for_each_field(bytes, [&](std::uint64_t tag, std::span<const std::byte> contents, std::size_t groups) {
    WireField found{.field = tag >> 3, .integer = std::nullopt, .text = {}};
    const Varint number = (tag & 7) == wire_varint || (tag & 7) == wire_length ? take_varint(contents) : Varint{};
    if ((tag & 7) == wire_varint) found.integer = number.value;
    if ((tag & 7) == wire_length) found.text = {reinterpret_cast<const char*>(contents.data()), contents.size()};
    if (groups == 0) take(found);
  });
}

std::optional<std::string> find_wide_number(std::span<const std::byte> bytes, const Descriptor& type) {
  unsigned groups = 0;  // depth of unknown groups, whose numbers do not matter here
  while (!bytes.empty()) {
    const Varint tag = take_varint(bytes);
    if (!tag.whole) return std::nullopt;
    if (tag.wide || tag.value > std::numeric_limits<std::uint32_t>::max())
      return fmt::format("field number: found {}; expected at most {}", tag.value >> 3, (std::uint64_t{1} << 29) - 1);
    const FieldDescriptor* field = groups > 0 ? nullptr : type.FindFieldByNumber(static_cast<int>(tag.value >> 3));
    std::uint64_t length = 0;
    switch (tag.value & 7) {
      case wire_varint: {
        const Varint number = take_varint(bytes);
        if (!number.whole) return std::nullopt;
        if (field != nullptr) {
          if (auto found = wide(*field, number)) return found;
        }
        continue;
      }
      case wire_group:
        ++groups;
        continue;
      case wire_group_end:
        if (groups-- == 0) return std::nullopt;
        continue;
      case wire_64_bits:
        length = 8;
        field = nullptr;
        break;
      case wire_32_bits:
        length = 4;
        field = nullptr;
        break;
      case wire_length: {
        const Varint stated = take_varint(bytes);
        if (!stated.whole) return std::nullopt;
        length = stated.wide ? std::numeric_limits<std::uint64_t>::max() : stated.value;
        break;
      }
      default:
        return std::nullopt;
    }
    if (length > bytes.size()) return std::nullopt;
    std::span<const std::byte> inner = bytes.first(static_cast<std::size_t>(length));
    bytes = bytes.subspan(static_cast<std::size_t>(length));
    if (field == nullptr) continue;
    if (field->type() == FieldDescriptor::TYPE_MESSAGE) {
      // The recursion is as deep as the messages nest; no message type contains itself.
      if (const auto found = find_wide_number(inner, *field->message_type())) return fmt::format("{}.{}", field->name(), *found);
    } else if (field->is_packable()) {
      const bool varints = field->type() != FieldDescriptor::TYPE_DOUBLE && field->type() != FieldDescriptor::TYPE_FLOAT;
      while (varints && !inner.empty()) {
        const Varint number = take_varint(inner);
        if (!number.whole) return std::nullopt;
        if (auto found = wide(*field, number)) return found;
      }
    }
  }
  return std::nullopt;
}

}  // namespace echoform
