#include "simulators/encode.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace echoform {

static_assert(std::endian::native == std::endian::little, "samples are little-endian on the wire");

void quantise12(std::span<const float> values, float counts_per_unit, std::span<std::int16_t> counts) noexcept {
  // Adding 1.5 * 2^23 leaves the rounded integer in the low bits of the sum: rounding as the processor does, without a call.
  constexpr float shift = 12582912.0F;
  for (std::size_t n = 0; n < values.size(); ++n) {
    const float held = std::min(std::max(values[n] * counts_per_unit, static_cast<float>(converter_minimum)),
                                static_cast<float>(converter_maximum));
    counts[n] = static_cast<std::int16_t>(static_cast<int>((held + shift) - shift));
  }
}

void pack12(std::span<const std::int16_t> counts, std::span<std::byte> bytes) noexcept {
  std::size_t at = 0;
  std::size_t n = 0;
  for (; n + 1 < counts.size(); n += 2) {
    const unsigned first = static_cast<unsigned>(counts[n]) & 0xFFFU;
    const unsigned second = static_cast<unsigned>(counts[n + 1]) & 0xFFFU;
    bytes[at++] = static_cast<std::byte>(first & 0xFFU);
    bytes[at++] = static_cast<std::byte>((first >> 8) | ((second & 0xFU) << 4));
    bytes[at++] = static_cast<std::byte>(second >> 4);
  }
  if (n < counts.size()) {
    const unsigned last = static_cast<unsigned>(counts[n]) & 0xFFFU;
    bytes[at++] = static_cast<std::byte>(last & 0xFFU);
    bytes[at] = static_cast<std::byte>(last >> 8);
  }
}

void encode_counts(std::span<const std::int16_t> counts, SampleEncoding encoding, double sample_scale,
                   std::span<std::byte> bytes) noexcept {
  switch (encoding) {
    case SampleEncoding::int16:
      std::memcpy(bytes.data(), counts.data(), counts.size_bytes());
      break;
    case SampleEncoding::packed12:
      pack12(counts, bytes);
      break;
    case SampleEncoding::float32:
      for (std::size_t n = 0; n < counts.size(); ++n) {
        const float value = static_cast<float>(static_cast<double>(counts[n]) * sample_scale);
        std::memcpy(bytes.data() + n * sizeof(float), &value, sizeof(float));
      }
      break;
  }
}

}  // namespace echoform
