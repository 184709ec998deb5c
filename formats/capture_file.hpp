// Captures: the bytes of acquisition connections as received, with times. proto/CAPTURE.md documents the file. This code
// does not interpret the bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "formats/atomic_file.hpp"

namespace echoform {

enum class CaptureRecordType : std::uint16_t {
  open = 1,    ///< a connection began; the payload is a text: who it is
  sent = 2,    ///< bytes from the sender
  answer = 3,  ///< bytes to the sender
  close = 4,   ///< a connection ended; the payload is a text: how
  end = 5,     ///< of the file, which was closed in order
};

inline constexpr std::string_view capture_extension = ".efcap";
inline constexpr std::size_t capture_header_bytes = 32;
inline constexpr std::size_t capture_record_header_bytes = 32;
inline constexpr std::size_t maximum_capture_payload = std::size_t{1} << 20;

struct CaptureRecord {
  CaptureRecordType type = CaptureRecordType::end;
  std::uint32_t connection = 0;      ///< counts from 0 in the order of opening
  std::chrono::nanoseconds time{0};  ///< since the capture began
  std::uint64_t offset = 0;          ///< of the payload in the file
  std::span<const std::byte> payload{};
};

/// Writes a capture. One thread at a time may use it.
class CaptureWriter {
 public:
  /// Makes a new file with its header, which has its name from then on, or once it is published. Throws InputError if something
  /// is there already or the place may not be written to, RuntimeFault if the disk is full.
  CaptureWriter(std::filesystem::path path, WallTime began, bool published = true);
  /// Gives the file its name; without one nothing is left of it. Throws as the constructor. May be called again.
  void publish() { file_.commit(); }

  /// Appends a record; longer payloads become several. Parts follow each other. When it returns, the record survives the
  /// process. Throws RuntimeFault if the disk is full or fails; the records before stay readable, no further one is taken.
  void append(CaptureRecordType type, std::uint32_t connection, std::chrono::nanoseconds time,
              std::span<const std::byte> payload);
  void append(CaptureRecordType type, std::uint32_t connection, std::chrono::nanoseconds time, std::string_view text);
  /// Synchronises appended records to the disk. Throws RuntimeFault.
  void flush();
  /// Writes the end record and closes. Throws RuntimeFault. May be called again.
  void close(std::chrono::nanoseconds time);

  /// Bytes of the file so far.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  void write_record(CaptureRecordType type, std::uint32_t connection, std::chrono::nanoseconds time,
                    std::span<const std::byte> payload);
  void write_all(std::span<const std::byte> first, std::span<const std::byte> second);
  [[noreturn]] void fail(int error);

  std::filesystem::path path_;
  AtomicFile file_;
  std::uint64_t bytes_ = 0;
  bool broken_ = false;
  bool closed_ = false;
};

/// Reads a capture forward. It keeps one payload in memory.
class CaptureReader {
 public:
  /// Throws InputError, in one line that names the file, unless it begins with the header of a capture.
  explicit CaptureReader(std::filesystem::path path);
  ~CaptureReader();
  CaptureReader(const CaptureReader&) = delete;
  CaptureReader& operator=(const CaptureReader&) = delete;

  [[nodiscard]] WallTime began() const noexcept { return began_; }
  /// The next record, valid until the next call; nothing at the end of what can be read. Complete records are returned
  /// whatever follows them.
  [[nodiscard]] std::optional<CaptureRecord> next();
  /// Whether the writer closed the file; valid after the last record. If false, the file was cut off or still grows, unless
  /// damage() states another cause.
  [[nodiscard]] bool finished() const noexcept { return finished_; }
  /// Why the next record cannot be read, if the file is not just cut off: one line with the place. Empty if nothing is
  /// wrong.
  [[nodiscard]] const std::string& damage() const noexcept { return damage_; }
  /// `bytes` at `offset`, as a record named it. Throws InputError if they are not there any more.
  void read_at(std::uint64_t offset, std::span<std::byte> bytes) const;

  /// Announces bytes that will be read soon.
  void expect(std::uint64_t offset, std::uint64_t bytes) const noexcept;

 private:
  [[nodiscard]] std::size_t read_some(std::uint64_t offset, std::span<std::byte> bytes) const;

  std::filesystem::path path_;
  int file_ = -1;
  WallTime began_{0};
  std::uint64_t at_ = capture_header_bytes;
  std::chrono::nanoseconds time_{0};
  std::vector<std::byte> payload_;
  bool finished_ = false;
  std::string damage_;
};

}  // namespace echoform
