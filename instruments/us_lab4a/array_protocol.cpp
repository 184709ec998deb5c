#include "instruments/us_lab4a/array_protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/errors.hpp"

namespace echoform::us_lab4a {
namespace {

constexpr std::size_t header_bytes = 8;
constexpr std::size_t longest_text = 300;

void put(std::string& bytes, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xFFU);
}

std::uint32_t number_at(std::span<const std::byte> bytes, std::size_t place, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t k = 0; k < size; ++k) value = value << 8 | std::to_integer<std::uint32_t>(bytes[place + k]);
  return value;
}

void require_size(const Answer& answer, std::size_t size) {
  if (answer.values.size() == size) return;
  throw InputError(fmt::format("message {}", name_of(answer.type)), fmt::format("{} bytes of values", answer.values.size()),
                   fmt::format("{}", size));
}

}  // namespace

std::string name_of(MessageType type) {
  constexpr std::array<std::string_view, 27> names{"connect",
                                                   "disconnect",
                                                   "ok",
                                                   "error",
                                                   "get signal length",
                                                   "signal length",
                                                   "get signal",
                                                   "signal",
                                                   "get largest sample",
                                                   "largest sample",
                                                   "get smallest sample",
                                                   "smallest sample",
                                                   "get sampling frequency",
                                                   "sampling frequency",
                                                   "set acquisition time",
                                                   "set active receive elements",
                                                   "set active transmit elements",
                                                   "set base element",
                                                   "set centre frequency",
                                                   "set gain",
                                                   "set receive delays",
                                                   "set sampling frequency",
                                                   "set transmit delays",
                                                   "before configuration",
                                                   "after configuration",
                                                   "before loop",
                                                   "after loop"};
  const auto number = static_cast<std::uint32_t>(type);
  const std::uint32_t place = number - static_cast<std::uint32_t>(MessageType::connect_request);
  return place < names.size() ? fmt::format("{} ({})", number, names[place]) : fmt::format("{}", number);
}

Request::Request(MessageType type) : type_(type) {
  put(bytes_, static_cast<std::uint32_t>(type));
  put(bytes_, 0);
}

Request& Request::add(std::uint32_t value) {
  put(bytes_, value);
  return *this;
}
Request& Request::add(float value) {
  return add(std::bit_cast<std::uint32_t>(value));
}
Request& Request::add(std::string_view text) {
  put(bytes_, static_cast<std::uint32_t>(text.size()));
  bytes_ += text;
  return *this;
}
Request& Request::add(std::span<const float> values) {
  put(bytes_, static_cast<std::uint32_t>(values.size()));
  for (const float value : values) put(bytes_, std::bit_cast<std::uint32_t>(value));
  return *this;
}

const std::string& Request::bytes() {
  std::string length;
  put(length, static_cast<std::uint32_t>(bytes_.size() - header_bytes));
  bytes_.replace(4, 4, length);
  return bytes_;
}

std::uint32_t number_in(const Answer& answer) {
  require_size(answer, 4);
  return number_at(answer.values, 0, 4);
}

std::int16_t sample_in(const Answer& answer) {
  require_size(answer, 2);
  return static_cast<std::int16_t>(number_at(answer.values, 0, 2));
}

float real_in(const Answer& answer) {
  return std::bit_cast<float>(number_in(answer));
}

std::string text_in(const Answer& answer) {
  const std::size_t size = answer.values.size() < 4 ? 0 : number_at(answer.values, 0, 4);
  require_size(answer, 4 + size);
  std::string text;
  for (std::size_t k = 0; k < std::min(size, longest_text); ++k) {
    const auto c = std::to_integer<unsigned char>(answer.values[4 + k]);
    text += c >= 0x20 && c < 0x7F ? static_cast<char>(c) : '?';
  }
  return size > longest_text ? text + " ..." : text;
}

std::span<const std::byte> samples_in(const Answer& answer, std::size_t count) {
  require_size(answer, 4 + 2 * count);
  if (number_at(answer.values, 0, 4) != count) {
    throw InputError(fmt::format("message {}", name_of(answer.type)),
                     fmt::format("{} samples by its count", number_at(answer.values, 0, 4)), fmt::format("{}", count));
  }
  return answer.values.subspan(4);
}

void swap_samples(std::span<const std::byte> raw, std::span<std::byte> counts) noexcept {
  for (std::size_t at = 0; at + 1 < raw.size(); at += 2) {
    // The loop swaps one word at a time, which compilers vectorise.
    std::uint16_t word = 0;
    std::memcpy(&word, raw.data() + at, sizeof word);
    if constexpr (std::endian::native == std::endian::little) word = static_cast<std::uint16_t>(word << 8 | word >> 8);
    std::memcpy(counts.data() + at, &word, sizeof word);
  }
}

AnswerParser::AnswerParser(std::size_t longest) : bytes_(std::max<std::size_t>(longest, 512)) {}

std::span<std::byte> AnswerParser::room() noexcept {
  // The instrument sends one answer at a time: bytes behind an answer begin a message that nobody requested.
  if (begin_ > 0) {
    std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  return std::span(bytes_).subspan(end_);
}

std::optional<Answer> AnswerParser::next() {
  const std::span<const std::byte> there(bytes_.data() + begin_, end_ - begin_);
  if (!broken_.empty() || there.size() < header_bytes) return std::nullopt;
  const auto type = static_cast<MessageType>(number_at(there, 0, 4));
  const std::size_t size = header_bytes + number_at(there, 4, 4);
  if (type < MessageType::ok || type > MessageType::sampling_frequency || size > bytes_.size()) {
    broken_ = fmt::format("found the message {} of {} bytes; expected an answer of at most {} bytes", name_of(type), size,
                          bytes_.size());
    return std::nullopt;
  }
  if (there.size() < size) return std::nullopt;
  begin_ += size;
  return Answer{type, there.subspan(header_bytes, size - header_bytes)};
}

}  // namespace echoform::us_lab4a
