#include "transport/openigtlink/messages.hpp"

#include <algorithm>
#include <bit>
#include <chrono>

#include "transport/openigtlink/crc64.hpp"

namespace echoform::openigtlink {
namespace {

constexpr std::uint8_t type_uint8 = 3;
constexpr std::uint8_t type_float32 = 10;
constexpr std::uint16_t ascii = 3;  // IANA numbers of character sets
constexpr std::uint16_t utf8 = 106;

template <class Number>
void put(Bytes& to, Number number) {
  for (std::size_t k = sizeof(Number); k-- > 0;) to.push_back(static_cast<std::byte>((number >> (8 * k)) & 0xFF));
}
void put(Bytes& to, std::uint8_t number) {
  to.push_back(static_cast<std::byte>(number));
}
void put(Bytes& to, float number) {
  put(to, std::bit_cast<std::uint32_t>(number));
}
void put_bytes(Bytes& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}
void put_text(Bytes& to, std::string_view text) {
  put_bytes(to, std::as_bytes(std::span(text)));
}
/// Writes the text to a field of `size` bytes, padded with zeros.
void put_field(Bytes& to, std::string_view text, std::size_t size) {
  put_text(to, text.substr(0, size));
  to.insert(to.end(), size - std::min(size, text.size()), std::byte{0});
}

}  // namespace

std::uint64_t timestamp_of(WallTime time) noexcept {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  if (seconds.count() < 0 || seconds.count() > 0xFFFFFFFF) return 0;
  const auto rest = static_cast<std::uint64_t>((time - seconds).count());
  return (static_cast<std::uint64_t>(seconds.count()) << 32) | ((rest << 32) / 1'000'000'000U);
}

void put_header(Bytes& to, const Header& header) {
  put(to, header.version);
  put_field(to, header.type, most_type_letters);
  put_field(to, header.device, most_device_letters);
  put(to, header.timestamp);
  put(to, header.body_bytes);
  put(to, header.crc);
}

void Metadata::add(std::string_view name, std::string_view value) {
  name = name.substr(0, 255);
  value = value.substr(0, 1024);
  const bool plain = std::all_of(value.begin(), value.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  openigtlink::put(table_, static_cast<std::uint16_t>(name.size()));
  openigtlink::put(table_, plain ? ascii : utf8);
  openigtlink::put(table_, static_cast<std::uint32_t>(value.size()));
  put_text(texts_, name);
  put_text(texts_, value);
  ++count_;
}

void Metadata::clear() {
  count_ = 0;
  table_.clear();
  texts_.clear();
}

void Metadata::put(Bytes& to) const {
  openigtlink::put(to, count_);
  put_bytes(to, table_);
  put_bytes(to, texts_);
}

void put_extended_header(Bytes& to, std::size_t table_bytes, std::size_t text_bytes, std::uint32_t id) {
  put(to, static_cast<std::uint16_t>(extended_header_bytes));
  put(to, static_cast<std::uint16_t>(table_bytes));
  put(to, static_cast<std::uint32_t>(text_bytes));
  put(to, id);
}

void put_message(Bytes& to, const Envelope& envelope, std::span<const std::byte> content) {
  const std::size_t start = to.size();
  to.resize(start + header_bytes);
  if (envelope.version >= latest_version) {
    const Metadata none;
    put_extended_header(to, none.table_bytes(), none.text_bytes(), envelope.id);
    put_bytes(to, content);
    none.put(to);
  } else {
    put_bytes(to, content);
  }
  const std::span<const std::byte> body = std::span<const std::byte>(to).subspan(start + header_bytes);
  Bytes header;
  put_header(header, {envelope.version, envelope.type, envelope.device, envelope.timestamp, body.size(), crc64(body)});
  std::copy(header.begin(), header.end(), to.begin() + static_cast<std::ptrdiff_t>(start));
}

void put_image_head(Bytes& to, const ImageHead& head) {
  put(to, std::uint16_t{1});  // the version of this layout, which later protocols also use
  put(to, std::uint8_t{1});   // components of a pixel
  put(to, head.real ? type_float32 : type_uint8);
  put(to, std::uint8_t{2});  // little-endian pixels
  put(to, std::uint8_t{1});  // RAS
  for (const std::uint16_t size : head.size) put(to, size);
  put_transform(to, head.matrix);
  // The subvolume is the whole image: it starts at 0.
  for (int k = 0; k < 3; ++k) put(to, std::uint16_t{0});
  for (const std::uint16_t size : head.size) put(to, size);
}

void put_transform(Bytes& to, const Matrix& matrix) {
  for (const auto& column : matrix) {
    for (const float value : column) put(to, value);
  }
}

void put_status(Bytes& to, StatusCode code, std::string_view name, std::string_view text) {
  put(to, static_cast<std::uint16_t>(code));
  put(to, std::uint64_t{0});
  put_field(to, name, 20);
  put_text(to, text);
  put(to, std::uint8_t{0});
}

void put_string(Bytes& to, std::string_view text) {
  text = text.substr(0, 0xFFFF);
  put(to, utf8);
  put(to, static_cast<std::uint16_t>(text.size()));
  put_text(to, text);
}

void put_outcome(Bytes& to, bool done) {
  put(to, static_cast<std::uint8_t>(done ? 0 : 1));
}

void put_capability(Bytes& to, std::span<const std::string_view> types) {
  for (const std::string_view type : types) put_field(to, type, most_type_letters);
}

void put_image_meta(Bytes& to, const ImageMeta& meta) {
  put_field(to, meta.name, 64);
  put_field(to, meta.device, most_device_letters);
  put_field(to, "US", 32);
  put_field(to, "", 64 + 64);  // the patient's name and ID, which are not known here
  put(to, meta.timestamp);
  for (const std::uint16_t size : meta.head.size) put(to, size);
  put(to, meta.head.real ? type_float32 : type_uint8);
  put(to, std::uint8_t{0});
}

}  // namespace echoform::openigtlink
