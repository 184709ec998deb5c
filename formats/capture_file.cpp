#include "formats/capture_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "base/errors.hpp"
#include "formats/atomic_file.hpp"
#include "formats/crc32c.hpp"

namespace echoform {
namespace {

using formats::crc32c;

constexpr std::string_view file_magic = "EFCAPTUR";
constexpr std::string_view record_magic = "EFCR";
constexpr std::uint32_t capture_version = 1;
constexpr std::uint32_t maximum_connection = 1U << 20;

template <class Unsigned>
void store(std::byte* to, Unsigned value) {
  for (std::size_t i = 0; i < sizeof(Unsigned); ++i) to[i] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i));
}
template <class Unsigned>
Unsigned load(const std::byte* from) {
  std::uint64_t value = 0;
  for (std::size_t i = sizeof(Unsigned); i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(from[i]);
  return static_cast<Unsigned>(value);
}

bool has_text(std::span<const std::byte> bytes, std::string_view text) {
  return std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

}  // namespace

CaptureWriter::CaptureWriter(std::filesystem::path path, WallTime began, bool published)
    : path_(std::move(path)), file_(path_, IfThere::refuse) {
  require_absent(path_, path_.string());
  std::array<std::byte, capture_header_bytes> header{};
  std::memcpy(header.data(), file_magic.data(), file_magic.size());
  store(header.data() + 8, capture_version);
  store(header.data() + 12, static_cast<std::uint32_t>(capture_header_bytes));
  store(header.data() + 16, static_cast<std::uint64_t>(began.count()));
  store(header.data() + 28, crc32c(std::span(header).first<28>()));
  write_all(header, {});
  if (published) publish();
}

void CaptureWriter::append(CaptureRecordType type, std::uint32_t connection, std::chrono::nanoseconds time,
                           std::span<const std::byte> payload) {
  do {
    const auto piece = payload.first(std::min(payload.size(), maximum_capture_payload));
    write_record(type, connection, time, piece);
    payload = payload.subspan(piece.size());
  } while (!payload.empty());
}

void CaptureWriter::append(CaptureRecordType type, std::uint32_t connection, std::chrono::nanoseconds time,
                           std::string_view text) {
  append(type, connection, time, std::as_bytes(std::span(text)));
}

void CaptureWriter::write_record(CaptureRecordType type, std::uint32_t connection, std::chrono::nanoseconds time,
                                 std::span<const std::byte> payload) {
  if (broken_ || closed_) throw RuntimeFault(fmt::format("{}: no longer written to", path_.string()));
  std::array<std::byte, capture_record_header_bytes> header{};
  std::memcpy(header.data(), record_magic.data(), record_magic.size());
  store(header.data() + 4, static_cast<std::uint16_t>(type));
  store(header.data() + 8, connection);
  store(header.data() + 12, static_cast<std::uint32_t>(payload.size()));
  store(header.data() + 16, static_cast<std::uint64_t>(time.count()));
  store(header.data() + 24, crc32c(payload));
  store(header.data() + 28, crc32c(std::span(header).first<28>()));
  write_all(header, payload);
}

void CaptureWriter::write_all(std::span<const std::byte> first, std::span<const std::byte> second) {
  const std::uint64_t before = bytes_;
  while (!first.empty() || !second.empty()) {
    // writev takes pointers to non-const data although it only reads them.
    std::array<iovec, 2> parts{iovec{const_cast<std::byte*>(first.data()), first.size()},
                               iovec{const_cast<std::byte*>(second.data()), second.size()}};
    const ssize_t count = ::writev(file_.descriptor(), parts.data(), static_cast<int>(parts.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const int error = count == 0 ? ENOSPC : errno;
      // Removes the half-written record. Readers could cope with it, but the file is better without it.
      static_cast<void>(!::ftruncate(file_.descriptor(), static_cast<off_t>(before)));
      bytes_ = before;
      fail(error);
    }
    bytes_ += static_cast<std::uint64_t>(count);
    const auto done = static_cast<std::size_t>(count);
    const std::size_t of_first = std::min(done, first.size());
    first = first.subspan(of_first);
    second = second.subspan(done - of_first);
  }
}

void CaptureWriter::fail(int error) {
  broken_ = true;
  throw RuntimeFault(
      fmt::format("{}: cannot be written: {}; what came before is in the file", path_.string(), std::strerror(error)));
}

void CaptureWriter::flush() {
  if (!closed_ && !broken_ && ::fdatasync(file_.descriptor()) != 0) fail(errno);
}

void CaptureWriter::close(std::chrono::nanoseconds time) {
  if (closed_) return;
  if (!broken_) write_record(CaptureRecordType::end, 0, time, {});
  closed_ = true;
  // Some file systems report only on closing that something was not written.
  FileDescriptor last = duplicate(file_.descriptor());
  if (last && !last.close() && !broken_) fail(errno);
}

CaptureReader::CaptureReader(std::filesystem::path path) : path_(std::move(path)) {
  file_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0) throw InputError(path_.string(), std::strerror(errno), "a capture");
  std::array<std::byte, capture_header_bytes> header{};
  const std::size_t count = read_some(0, header);
  const auto refuse = [&](const std::string& found, const std::string& expected) {
    ::close(std::exchange(file_, -1));
    throw InputError(path_.string(), found, expected);
  };
  if (count < header.size() || !has_text(header, file_magic)) refuse("another beginning", "that of a capture (\"EFCAPTUR\")");
  if (load<std::uint32_t>(header.data() + 28) != crc32c(std::span(header).first<28>()))
    refuse("a header whose checksum is wrong", "a whole capture");
  if (const auto version = load<std::uint32_t>(header.data() + 8); version != capture_version)
    refuse(fmt::format("version {}", version), fmt::format("version {}", capture_version));
  if (const auto size = load<std::uint32_t>(header.data() + 12); size != capture_header_bytes)
    refuse(fmt::format("a header of {} bytes", size), fmt::format("{}", capture_header_bytes));
  const auto began = load<std::uint64_t>(header.data() + 16);
  if (began > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / 2))
    refuse("a time beyond all times", "nanoseconds since 1970 below 2^62");
  began_ = WallTime(static_cast<std::int64_t>(began));
}

CaptureReader::~CaptureReader() {
  if (file_ >= 0) ::close(file_);
}

std::size_t CaptureReader::read_some(std::uint64_t offset, std::span<std::byte> bytes) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::pread(file_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw InputError(path_.string(), std::strerror(errno), "a file that can be read");
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

std::optional<CaptureRecord> CaptureReader::next() {
  if (finished_ || !damage_.empty()) return std::nullopt;
  std::array<std::byte, capture_record_header_bytes> header{};
  // The file ends within a header or a payload: the writer was killed, or is still writing.
  if (read_some(at_, header) < header.size()) return std::nullopt;
  const auto damaged = [&](const std::string& found, const std::string& expected) {
    damage_ = InputError(fmt::format("{}: record at offset {}", path_.string(), at_), found, expected).what();
    return std::nullopt;
  };
  if (!has_text(header, record_magic)) return damaged("another beginning", "\"EFCR\"");
  if (load<std::uint32_t>(header.data() + 28) != crc32c(std::span(header).first<28>()))
    return damaged("a header whose checksum is wrong", "the CRC-32C of its first 28 bytes");
  const auto type = load<std::uint16_t>(header.data() + 4);
  const auto connection = load<std::uint32_t>(header.data() + 8);
  const auto length = load<std::uint32_t>(header.data() + 12);
  const auto time = load<std::uint64_t>(header.data() + 16);
  if (type < 1 || type > 5) return damaged(fmt::format("type {}", type), "1 to 5");
  if (connection >= maximum_connection) return damaged(fmt::format("connection {}", connection), "below 2^20");
  if (length > maximum_capture_payload)
    return damaged(fmt::format("a payload of {} bytes", length), fmt::format("at most {}", maximum_capture_payload));
  if (time > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / 2) ||
      time < static_cast<std::uint64_t>(time_.count()))
    return damaged(fmt::format("time {} ns", time), "one that does not go back");
  payload_.resize(length);
  if (read_some(at_ + header.size(), payload_) < length) return std::nullopt;
  if (load<std::uint32_t>(header.data() + 24) != crc32c(payload_))
    return damaged("a payload whose checksum is wrong", "the CRC-32C of the payload");
  time_ = std::chrono::nanoseconds(static_cast<std::int64_t>(time));
  const CaptureRecord record{static_cast<CaptureRecordType>(type), connection, time_, at_ + header.size(), payload_};
  at_ += header.size() + length;
  finished_ = record.type == CaptureRecordType::end;
  return record;
}

void CaptureReader::expect(std::uint64_t offset, std::uint64_t bytes) const noexcept {
  ::posix_fadvise(file_, static_cast<off_t>(offset), static_cast<off_t>(bytes), POSIX_FADV_WILLNEED);
}

void CaptureReader::read_at(std::uint64_t offset, std::span<std::byte> bytes) const {
  if (read_some(offset, bytes) < bytes.size())
    throw InputError(fmt::format("{}: offset {}", path_.string(), offset), "the end of the file", "bytes that were there before");
}

}  // namespace echoform
