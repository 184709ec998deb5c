#include "instruments/micropulse/sample_decoder.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace echoform::micropulse {
namespace {

// The loops work on whole words, which compilers vectorise. They do not vectorise bytes that are combined one by one.
std::uint16_t word_at(const std::byte* from) noexcept {
  std::uint16_t word = 0;
  std::memcpy(&word, from, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = static_cast<std::uint16_t>(word << 8 | word >> 8);
  return word;
}

void store(std::byte* to, int value) noexcept {
  const auto count = static_cast<std::int16_t>(value);
  std::memcpy(to, &count, sizeof count);
}

}  // namespace

void decode_samples(std::span<const std::byte> raw, SampleBits bits, Justified justified, std::span<std::byte> counts) noexcept {
  const std::byte* const from = raw.data();
  std::byte* const to = counts.data();
  const std::size_t samples = counts.size() / sizeof(std::int16_t);
  if (bits == SampleBits::eight) {
    for (std::size_t n = 0; n < samples; ++n) store(to + 2 * n, std::to_integer<int>(from[n]) - 128);
  } else if (bits == SampleBits::sixteen || justified == Justified::high) {
    for (std::size_t n = 0; n < samples; ++n) store(to + 2 * n, word_at(from + 2 * n) - 32768);
  } else {
    const int middle = 1 << (bit_count(bits) - 1);
    for (std::size_t n = 0; n < samples; ++n) {
      store(to + 2 * n, std::min<int>(word_at(from + 2 * n), 2 * middle - 1) - middle);
    }
  }
}

}  // namespace echoform::micropulse
