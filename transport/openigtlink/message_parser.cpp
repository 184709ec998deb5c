#include "transport/openigtlink/message_parser.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "transport/openigtlink/crc64.hpp"

namespace echoform::openigtlink {
namespace {

std::uint64_t number_at(std::span<const std::byte> bytes, std::size_t place, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t k = 0; k < size; ++k) number = (number << 8) | std::to_integer<std::uint64_t>(bytes[place + k]);
  return number;
}

bool printable(char c) {
  return c > 0x20 && c < 0x7F;
}

std::string text_at(std::span<const std::byte> bytes, std::size_t place, std::size_t size) {
  std::string text;
  for (std::size_t k = 0; k < size && bytes[place + k] != std::byte{0}; ++k) {
    text += static_cast<char>(std::to_integer<unsigned char>(bytes[place + k]));
  }
  return text;
}

// Offsets of the fields in a header.
constexpr std::size_t type_at = 2;
constexpr std::size_t device_at = type_at + most_type_letters;
constexpr std::size_t timestamp_at = device_at + most_device_letters;
constexpr std::size_t body_at = timestamp_at + 8;
constexpr std::size_t sum_at = body_at + 8;
static_assert(sum_at + 8 == header_bytes);

}  // namespace

std::optional<std::string> MessageParser::take(std::span<const std::byte>& bytes,
                                               const std::function<bool(const ReceivedMessage&)>& tell) {
  while (!bytes.empty()) {
    if (have_ < header_bytes) {
      const std::size_t count = std::min<std::size_t>(bytes.size(), header_bytes - have_);
      std::copy_n(bytes.begin(), count, header_.begin() + static_cast<std::ptrdiff_t>(have_));
      have_ += count;
      bytes = bytes.subspan(count);
      if (have_ < header_bytes) return std::nullopt;
      if (auto fault = read_header()) return fault;
    } else {
      const std::uint64_t done = have_ - header_bytes;
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), message_.body_bytes - done));
      if (done < extended_.size()) {
        const auto some = std::min<std::size_t>(count, extended_.size() - static_cast<std::size_t>(done));
        std::copy_n(bytes.begin(), some, extended_.begin() + static_cast<std::ptrdiff_t>(done));
      }
      sum_ = crc64(bytes.first(count), sum_);
      have_ += count;
      bytes = bytes.subspan(count);
    }
    if (have_ < header_bytes + message_.body_bytes) continue;
    if (auto fault = check_body()) return fault;
    have_ = 0;
    if (!tell(message_)) return std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::string> MessageParser::read_header() {
  message_.version = static_cast<std::uint16_t>(number_at(header_, 0, 2));
  if (message_.version < first_version || message_.version > latest_version) {
    return fmt::format("a header of version {}, where 1 or 2 is expected", message_.version);
  }
  message_.type = text_at(header_, type_at, most_type_letters);
  if (message_.type.empty() || !std::all_of(message_.type.begin(), message_.type.end(), printable)) {
    return "a type of message that is no word";
  }
  message_.device = text_at(header_, device_at, most_device_letters);
  std::replace_if(
      message_.device.begin(), message_.device.end(), [](char c) { return c != ' ' && !printable(c); }, '?');
  message_.timestamp = number_at(header_, timestamp_at, 8);
  message_.body_bytes = number_at(header_, body_at, 8);
  stated_ = number_at(header_, sum_at, 8);
  sum_ = 0;
  if (message_.body_bytes > most_body_bytes) {
    return fmt::format("{} of {} bytes, more than {}", message_.type, message_.body_bytes, most_body_bytes);
  }
  return std::nullopt;
}

std::optional<std::string> MessageParser::check_body() const {
  if (sum_ != stated_) return fmt::format("{} whose check sum is {:016x} and not {:016x}", message_.type, sum_, stated_);
  // A message of version 2 may have an empty body: some clients leave out the extended header as well.
  if (message_.version < latest_version || message_.body_bytes == 0) return std::nullopt;
  if (message_.body_bytes < extended_header_bytes) return fmt::format("{} without a whole extended header", message_.type);
  const std::uint64_t extended = number_at(extended_, 0, 2);
  const std::uint64_t table = number_at(extended_, 2, 2);
  const std::uint64_t texts = number_at(extended_, 4, 4);
  if (extended < extended_header_bytes || extended + table + texts > message_.body_bytes) {
    return fmt::format("{} of {} bytes whose extended header states {} + {} + {}", message_.type, message_.body_bytes, extended,
                       table, texts);
  }
  return std::nullopt;
}

}  // namespace echoform::openigtlink
