// BRAIN .mat files. Input: the file. A first byte of 'Z' (of the header's free text) has everything behind the header compressed
// into one element before it is read, since no mutation of compressed bytes is a compressed file.
#include <zlib.h>

#include <vector>

#include "formats/recording_formats.hpp"
#include "tests/fuzz/recording_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoform;
  constexpr std::size_t header = 128;
  static const fuzz::InputFile file(".mat");
  std::vector<std::uint8_t> bytes(data, data + size);
  if (size > header && bytes[0] == 'Z') {
    uLongf length = compressBound(size - header);
    bytes.resize(header + 8 + length);
    compress2(bytes.data() + header + 8, &length, data + header, size - header, 1);
    const std::uint32_t tag[2] = {15, static_cast<std::uint32_t>(length)};
    std::memcpy(bytes.data() + header, tag, sizeof tag);
    bytes.resize(header + 8 + length);
  }
  file.write(bytes);
  fuzz::check_recording([&] { return formats::open_as(formats::brain_mat_format, file.path(), fuzz::small_recordings); });
  return 0;
}
