#include "instruments/micropulse/reply_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace echoform::micropulse {
namespace {

constexpr std::size_t read_ahead = std::size_t{1} << 18;
constexpr std::size_t header_bytes = 8;      // header of an A-scan
constexpr std::size_t universal_header = 5;  // includes the byte that states the type of the message
constexpr std::size_t ranged_header = 12;    // header of an A-scan that states the range of its echo

unsigned byte_at(std::span<const std::byte> bytes, std::size_t place) {
  return std::to_integer<unsigned>(bytes[place]);
}
unsigned number16(std::span<const std::byte> bytes, std::size_t place) {
  return byte_at(bytes, place) | byte_at(bytes, place + 1) << 8;
}
unsigned number24(std::span<const std::byte> bytes, std::size_t place) {
  return number16(bytes, place) | byte_at(bytes, place + 2) << 16;
}
std::int32_t signed24(std::span<const std::byte> bytes, std::size_t place) {
  const auto value = static_cast<std::int32_t>(number24(bytes, place));
  return value >= 0x800000 ? value - 0x1000000 : value;
}

std::string error_words(unsigned code) {
  constexpr std::array<std::string_view, 9> meanings{
      "arguments that contradict each other",
      "a command that it does not know",
      "an argument out of its limits",
      "a command that it does not know",
      "it is too hot",
      "a fault of the high-voltage supply",
      "a fault of a slave system",
      "a fault of a channel for phased arrays",
      "a fault of a conventional channel",
  };
  return code < meanings.size() ? fmt::format("{} (error {})", meanings[code], code)
                                : fmt::format("error {}, which has no name here", code);
}

std::string hexadecimal(std::span<const std::byte> bytes) {
  constexpr std::size_t most = 24;
  std::string text;
  for (std::size_t i = 0; i < std::min(bytes.size(), most); ++i)
    text += fmt::format("{}{:02X}", i == 0 ? "" : " ", byte_at(bytes, i));
  if (bytes.size() > most) text += " ...";
  return text;
}

/// Reads the header words that both kinds of A-scans share: test, format and channel, from `place` on.
void read_header(std::span<const std::byte> message, std::size_t place, Reply& reply) {
  const unsigned format = byte_at(message, place + 2);
  reply.test = (number16(message, place) & 0x7FFU) + 1;
  reply.format = static_cast<std::uint8_t>(format & 0x1FU);
  // Channel numbers that do not fit into a byte use the bits above the format.
  reply.channel = byte_at(message, place + 3) | (format >> 5) << 8;
}

Reply notice(std::string text) {
  Reply reply;
  reply.text = std::move(text);
  return reply;
}

Reply read_universal(std::span<const std::byte> message) {
  Reply reply;
  const unsigned what = byte_at(message, 4);
  const auto contents = message.subspan(universal_header);
  switch (what) {
    case 0x01:
      if (message.size() < ranged_header) return notice("an A-scan without its header");
      reply.kind = ReplyKind::a_scan;
      read_header(message, 5, reply);
      reply.samples = message.subspan(ranged_header);
      return reply;
    case 0x03:
      reply.kind = ReplyKind::stopped;
      return reply;
    case 0x04:
      reply.kind = ReplyKind::error;
      reply.text = "a fault of its synchronisation";
      return reply;
    case 0x43:
      reply.kind = ReplyKind::error;
      reply.text = contents.empty()
                       ? "an extended error"
                       : fmt::format("an extended error: {} [{}]", error_words(byte_at(contents, 0)), hexadecimal(contents));
      return reply;
    case 0x45:
      reply.kind = ReplyKind::error;
      reply.text = fmt::format("a line of its error log [{}]", hexadecimal(contents));
      return reply;
    default:
      return notice(fmt::format("message 2D {:02X} [{}]", what, hexadecimal(contents)));
  }
}

Reply read_reset(std::span<const std::byte> message) {
  Reply reply;
  reply.kind = ReplyKind::reset_done;
  const unsigned high = byte_at(message, 17);  // the stored value is one too high
  reply.array_channels = byte_at(message, 2) + 256 * (high > 0 ? high - 1 : 0);
  reply.type = byte_at(message, 4) >> 4;
  reply.sample_format = byte_at(message, 7);
  reply.sample_rate_mhz = byte_at(message, 9);
  return reply;
}

}  // namespace

std::string type_name(unsigned type) {
  switch (type) {
    case 3:
      return "LTPA";
    case 4:
      return "MPLT";
    case 5:
      return "MP6";
    default:
      return fmt::format("type {}", type);
  }
}

ReplyParser::ReplyParser(std::size_t longest_message)
    : longest_(std::max<std::size_t>(longest_message, 64)), bytes_(longest_ + read_ahead) {}

std::span<std::byte> ReplyParser::room() noexcept {
  if (begin_ == end_) begin_ = end_ = 0;
  // Less than one message is kept, so at least half of the memory is free afterwards.
  if (begin_ > 0 && bytes_.size() - end_ < read_ahead / 2) {
    std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  return std::span(bytes_).subspan(end_);
}

std::optional<std::size_t> ReplyParser::counted(std::size_t header) {
  const std::span<const std::byte> there(bytes_.data() + begin_, end_ - begin_);
  if (there.size() < 4) return std::nullopt;
  const std::size_t count = number24(there, 1);
  if (count < header || count > longest_) {
    broken_ = fmt::format("the message {:02X}: found a length of {} bytes; expected {} to {}", byte_at(there, 0), count, header,
                          longest_);
    return std::nullopt;
  }
  return count;
}

std::optional<std::size_t> ReplyParser::length() {
  const std::span<const std::byte> there(bytes_.data() + begin_, end_ - begin_);
  const unsigned first = byte_at(there, 0);
  switch (first) {
    case 0x1A:
    case 0x1C:
    case 0x1D:
    case 0x1E:
      return counted(header_bytes);
    case 0x2D:
      return counted(universal_header);
    case 0x06:
      return 2;
    case 0x15:
      return 18;
    case 0x13:
    case 0x14:
      return 5;
    case 0x23:
      return 32;
    case 0x01:
      if (there.size() < 2) return std::nullopt;
      if (byte_at(there, 1) == 0x01) return 2;
      broken_ = fmt::format("the end of a cycle: found 01 {:02X}; expected 01 01", byte_at(there, 1));
      return std::nullopt;
    case 0x27:
    case 0x28:
    case 0x29:
    case 0x2A:
      broken_ = fmt::format(
          "found the message {:02X}, which tells of echo triggers, coupling or overload and is not understood; expected that it "
          "is not switched on",
          first);
      return std::nullopt;
    default:
      broken_ = fmt::format("found the byte {:02X} where a message begins; expected 1A, 1C to 1E, 2D, 06, 13 to 15, 23 or 01 01",
                            first);
      return std::nullopt;
  }
}

Reply ReplyParser::read(std::span<const std::byte> message) const {
  Reply reply;
  switch (byte_at(message, 0)) {
    case 0x1A:
      reply.kind = ReplyKind::a_scan;
      read_header(message, 4, reply);
      reply.samples = message.subspan(header_bytes);
      break;
    case 0x1C:
    case 0x1D:
    case 0x1E:
      reply.kind = ReplyKind::peaks;
      reply.text = byte_at(message, 0) == 0x1C   ? "peak indications"
                   : byte_at(message, 0) == 0x1D ? "indications at reduced gain"
                                                 : "a failure of coupling";
      break;
    case 0x2D:
      return read_universal(message);
    case 0x06:
      reply.kind = ReplyKind::error;
      reply.text = error_words(byte_at(message, 1));
      break;
    case 0x15:
      reply.kind = ReplyKind::state;
      for (std::size_t axis = 0; axis < reply.axes.size(); ++axis) reply.axes[axis] = signed24(message, 2 + 3 * axis);
      break;
    case 0x13:
    case 0x14:
      reply.kind = ReplyKind::place;
      reply.text = byte_at(message, 0) == 0x13 ? "an inspection point" : "a missed inspection point";
      break;
    case 0x23:
      return read_reset(message);
    default:
      reply.kind = ReplyKind::cycle_end;
      break;
  }
  return reply;
}

std::optional<Reply> ReplyParser::next() {
  if (!broken_.empty()) return std::nullopt;
  while (begin_ != end_ && bytes_[begin_] == std::byte{0}) ++begin_;
  if (begin_ == end_) return std::nullopt;
  const auto bytes = length();
  if (!bytes || end_ - begin_ < *bytes) return std::nullopt;
  const std::span<const std::byte> message(bytes_.data() + begin_, *bytes);
  begin_ += *bytes;
  return read(message);
}

}  // namespace echoform::micropulse
