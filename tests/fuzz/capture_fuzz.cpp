// Captures: files whose records are damaged, and whose connections say anything. Input: one byte of choices (bit 0: mend the
// checksums of the records, which no mutation hits), then the file.
#include "formats/capture_scan.hpp"
#include "formats/crc32c.hpp"
#include "formats/recording_formats.hpp"
#include "tests/fuzz/recording_check.hpp"

namespace {

using Bytes = std::vector<std::uint8_t>;

void store(Bytes& bytes, std::size_t at, std::uint32_t value) {
  for (std::size_t k = 0; k < 4; ++k) bytes[at + k] = static_cast<std::uint8_t>(value >> (8 * k));
}

void mend(Bytes& bytes) {
  using namespace echoform;
  const auto crc = [&](std::size_t at, std::size_t size) {
    return formats::crc32c(std::as_bytes(std::span(bytes)).subspan(at, size));
  };
  if (bytes.size() < capture_header_bytes) return;
  store(bytes, 28, crc(0, 28));
  for (std::size_t at = capture_header_bytes; bytes.size() - at >= capture_record_header_bytes;) {
    std::size_t length = 0;
    for (std::size_t k = 4; k-- > 0;) length = length << 8 | bytes[at + 12 + k];
    if (length > bytes.size() - at - capture_record_header_bytes) return;
    store(bytes, at + 24, crc(at + capture_record_header_bytes, length));
    store(bytes, at + 28, crc(at, 28));
    at += capture_record_header_bytes + length;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoform;
  static const fuzz::InputFile file(".efcap");
  fuzz::Input input(data, size);
  const auto choices = input.take<std::uint8_t>();
  Bytes bytes(input.rest().begin(), input.rest().end());
  if ((choices & 1U) != 0) mend(bytes);
  file.write(bytes);
  try {
    const CaptureScan scan(file.path(), fuzz::small_recordings.limits);
    if (!scan.damage().empty()) fuzz::require_one_line(scan.damage());
    fuzz::require(scan.damage().empty() || !scan.finished(), "a damaged capture is not finished");
    std::uint64_t sent = 0;
    for (const CapturedConnection& connection : scan.connections()) {
      sent += connection.bytes;
      if (!connection.fault.empty()) fuzz::require_one_line(connection.fault);
    }
    fuzz::require(sent <= bytes.size(), "no more bytes than the file has");
  } catch (const InputError& error) {
    fuzz::require_one_line(error.what());
  }
  fuzz::check_recording([&] { return formats::open_as(formats::capture_format, file.path(), fuzz::small_recordings); });
  return 0;
}
