// OpenIGTLink messages as bytes: http://openigtlink.org/developers/spec, protocol versions 1 to 3. All numbers are big-endian,
// but for pixels, whose order an image states. Knows no sockets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"

namespace echoform::openigtlink {

using Bytes = std::vector<std::byte>;

inline constexpr std::uint16_t default_port = 18944;
/// Versions of the header. Version 1 belongs to protocols 1 and 2. Version 2, of protocol 3, has an extended header and
/// metadata around the content.
inline constexpr std::uint16_t first_version = 1;
inline constexpr std::uint16_t latest_version = 2;
inline constexpr std::size_t header_bytes = 58;
inline constexpr std::size_t extended_header_bytes = 12;
inline constexpr std::size_t most_type_letters = 12;
inline constexpr std::size_t most_device_letters = 20;
inline constexpr std::size_t image_head_bytes = 72;

/// The codes of STATUS that a server of images uses.
enum class StatusCode : std::uint16_t { ok = 1, not_ready = 13 };

/// A time stamp: the upper half holds seconds since 1970, the lower half the rest as a binary fraction of a second. 0, which
/// means no time, for times before 1970 and after 2106.
[[nodiscard]] std::uint64_t timestamp_of(WallTime time) noexcept;

struct Header {
  std::uint16_t version = first_version;
  std::string_view type;    ///< at most most_type_letters; the rest is cut
  std::string_view device;  ///< likewise
  std::uint64_t timestamp = 0;
  std::uint64_t body_bytes = 0;
  std::uint64_t crc = 0;  ///< of the body: extended header, content and metadata
};
void put_header(Bytes& to, const Header& header);

/// Names and values, of messages of version 2.
class Metadata {
 public:
  /// Adds a name and a value. At most 255 bytes of `name` and 1024 of `value` are kept.
  void add(std::string_view name, std::string_view value);
  /// Removes all entries; keeps the memory.
  void clear();
  /// Appends the table of all entries, then the entries. They stand behind a message's content.
  void put(Bytes& to) const;
  [[nodiscard]] std::size_t table_bytes() const noexcept { return 2 + table_.size(); }
  [[nodiscard]] std::size_t text_bytes() const noexcept { return texts_.size(); }

 private:
  std::uint16_t count_ = 0;
  Bytes table_;
  Bytes texts_;
};

void put_extended_header(Bytes& to, std::size_t table_bytes, std::size_t text_bytes, std::uint32_t id);

/// A whole message but for its check sum and size: type, device and time as in Header.
struct Envelope {
  std::uint16_t version = first_version;
  std::string_view type;
  std::string_view device;
  std::uint64_t timestamp = 0;
  std::uint32_t id = 0;
};
/// Appends a message without metadata.
void put_message(Bytes& to, const Envelope& envelope, std::span<const std::byte> content);

/// Columns of a transformation from i, j, k to RAS in mm: three directions, then the place.
using Matrix = std::array<std::array<float, 3>, 4>;

struct ImageHead {
  bool real = false;                           ///< float32, little-endian; else uint8
  std::array<std::uint16_t, 3> size{1, 1, 1};  ///< along i, j, k
  Matrix matrix{};                             ///< directions as long as the pixels are wide; the place is the image's centre
};
void put_image_head(Bytes& to, const ImageHead& head);
void put_transform(Bytes& to, const Matrix& matrix);
void put_status(Bytes& to, StatusCode code, std::string_view name, std::string_view text);
/// UTF-8; at most 65535 bytes, the rest is cut.
void put_string(Bytes& to, std::string_view text);
/// The content of an RTS_* message: whether the request was carried out.
void put_outcome(Bytes& to, bool done);
/// The content of CAPABILITY: types of messages.
void put_capability(Bytes& to, std::span<const std::string_view> types);
/// An element of IMGMETA.
struct ImageMeta {
  std::string_view name;    ///< at most 64 bytes
  std::string_view device;  ///< at most most_device_letters
  std::uint64_t timestamp = 0;
  ImageHead head;
};
void put_image_meta(Bytes& to, const ImageMeta& meta);

}  // namespace echoform::openigtlink
