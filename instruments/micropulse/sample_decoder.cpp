#include "instruments/micropulse/sample_decoder.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace echoform::micropulse {

void decode_samples(std::span<const std::byte> raw, SampleBits bits, Justified justified, std::span<std::byte> counts) noexcept {
  const auto* const from = reinterpret_cast<const unsigned char*>(raw.data());
  auto* const to = reinterpret_cast<unsigned char*>(counts.data());
  const std::size_t samples = counts.size() / sizeof(std::int16_t);
  const auto store = [to](std::size_t n, int value) {
    const auto count = static_cast<std::int16_t>(value);
    std::memcpy(to + 2 * n, &count, sizeof count);
  };
  const auto load = [from](std::size_t n) { return from[2 * n] | from[2 * n + 1] << 8; };
  if (bits == SampleBits::eight) {
    for (std::size_t n = 0; n < samples; ++n) store(n, from[n] - 128);
  } else if (bits == SampleBits::sixteen || justified == Justified::high) {
    for (std::size_t n = 0; n < samples; ++n) store(n, load(n) - 32768);
  } else {
    const int middle = 1 << (bit_count(bits) - 1);
    for (std::size_t n = 0; n < samples; ++n) store(n, std::min(load(n), 2 * middle - 1) - middle);
  }
}

}  // namespace echoform::micropulse
