#include "formats/samples.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace echoform::formats {
namespace {

template <class Number>
void amplitudes_of(const Acquisition& a, std::span<const std::byte> frame, std::span<Number> amplitudes) {
  if (a.encoding == SampleEncoding::float32) {
    for (std::size_t n = 0; n < amplitudes.size(); ++n) {
      float value = 0.0F;
      std::memcpy(&value, frame.data() + n * sizeof(float), sizeof(float));
      amplitudes[n] = value;
    }
    return;
  }
  std::vector<std::int16_t> counts(amplitudes.size());
  frame_counts(a, frame, counts);
  for (std::size_t n = 0; n < counts.size(); ++n) amplitudes[n] = static_cast<Number>(a.sample_scale * counts[n]);
}

}  // namespace

void unpack12(std::span<const std::byte> bytes, std::span<std::int16_t> counts) noexcept {
  const auto at = [&](std::size_t k) { return std::to_integer<unsigned>(bytes[k]); };
  // Shifting to the top of 16 bits and back extends the sign.
  const auto extended = [](unsigned low12) {
    return static_cast<std::int16_t>(static_cast<std::int16_t>(static_cast<std::uint16_t>(low12 << 4U)) >> 4);
  };
  std::size_t n = 0;
  for (std::size_t k = 0; n + 1 < counts.size(); n += 2, k += 3) {
    counts[n] = extended(at(k) | (at(k + 1) & 0x0FU) << 8U);
    counts[n + 1] = extended(at(k + 1) >> 4U | at(k + 2) << 4U);
  }
  if (n < counts.size()) counts[n] = extended(at(3 * n / 2) | (at(3 * n / 2 + 1) & 0x0FU) << 8U);
}

void frame_counts(const Acquisition& a, std::span<const std::byte> frame, std::span<std::int16_t> counts) noexcept {
  if (a.encoding == SampleEncoding::int16) {
    std::memcpy(counts.data(), frame.data(), counts.size_bytes());
    return;
  }
  const std::size_t bytes = a.bytes_per_a_scan();
  for (std::size_t k = 0; k < a.a_scans(); ++k)
    unpack12(frame.subspan(k * bytes, bytes), counts.subspan(k * a.samples, a.samples));
}

void frame_amplitudes(const Acquisition& a, std::span<const std::byte> frame, std::span<float> amplitudes) {
  amplitudes_of(a, frame, amplitudes);
}

void frame_amplitudes(const Acquisition& a, std::span<const std::byte> frame, std::span<double> amplitudes) {
  amplitudes_of(a, frame, amplitudes);
}

std::optional<std::size_t> first_not_finite(std::span<const float> samples) noexcept {
  // Compilers vectorize loops over whole blocks without an exit.
  constexpr std::size_t block = 4096;
  constexpr std::uint32_t exponent = 0x7F800000U;
  std::size_t first = 0;
  for (; first + block <= samples.size(); first += block) {
    std::uint32_t found = 0;
    for (std::size_t k = 0; k < block; ++k) {
      const auto bits = std::bit_cast<std::uint32_t>(samples[first + k]);
      found |= (bits & exponent) == exponent ? 1U : 0U;
    }
    if (found != 0) break;
  }
  for (; first < samples.size(); ++first) {
    if (!std::isfinite(samples[first])) return first;
  }
  return std::nullopt;
}

}  // namespace echoform::formats
