// How samples are stored: an encoding is an enumerator and its entry. The kernels (stages/raw_rows) define how its samples
// are read, and proto/WIRE.md how they are transmitted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace echoform {

/// How samples are stored. Multi-byte samples are little-endian.
enum class SampleEncoding : std::uint8_t {
  int16,
  packed12,  ///< two's complement, low bits first, two samples in three bytes, each A-scan starting on a byte
  float32,
};

struct EncodingFacts {
  std::string_view word;      ///< what users call it
  std::size_t together = 1;   ///< samples that are stored together; the first of them starts on a byte
  std::size_t bytes = 1;      ///< bytes that these take
  std::size_t alignment = 1;  ///< rows start on a multiple of so many bytes
  /// Highest count, for encodings that hold counts; the acquisition states the amplitude of a count (sample_scale). 0: the
  /// encoding holds amplitudes.
  int highest_count = 0;

  [[nodiscard]] constexpr bool counts() const { return highest_count > 0; }
  /// Bytes of `samples` samples from the first of a row on; at most 2^60 of them.
  [[nodiscard]] constexpr std::size_t bytes_of(std::size_t samples) const { return (bytes * samples + together - 1) / together; }
};

/// The facts of each encoding, indexed by its enumerator.
inline constexpr std::array<EncodingFacts, 3> sample_encodings = {{
    {"int16", 1, 2, 2, 32767},
    {"packed12", 2, 3, 1, 2047},
    {"float32", 1, 4, 4, 0},
}};

[[nodiscard]] constexpr const EncodingFacts& facts_of(SampleEncoding encoding) {
  return sample_encodings[static_cast<std::size_t>(encoding)];
}

}  // namespace echoform
