// How one sample is read.
#pragma once

#include <cstdint>

#include "gpu/host_device.hpp"

namespace echoform {

inline constexpr int int16_lowest = -32768;
inline constexpr int int16_highest = 32767;
inline constexpr int packed12_lowest = -2048;
inline constexpr int packed12_highest = 2047;

/// Sign-extends the low 12 bits.
ECHOFORM_HOST_DEVICE int sign_extend12(unsigned bits) {
  return static_cast<std::int16_t>(bits << 4) >> 4;
}

/// The even and the odd sample of three bytes: two's complement, low bits first.
ECHOFORM_HOST_DEVICE int even_sample12(const std::uint8_t* bytes) {
  return sign_extend12(bytes[0] | static_cast<unsigned>(bytes[1]) << 8);
}
ECHOFORM_HOST_DEVICE int odd_sample12(const std::uint8_t* bytes) {
  return sign_extend12(static_cast<unsigned>(bytes[1]) >> 4 | static_cast<unsigned>(bytes[2]) << 4);
}

/// Bits of the smallest magnitude of a float32 sample that is taken as 0, where samples are multiplied by `weight`: 2^56
/// (7e16), which no amplitude reaches, or 2^57 / |weight| where that is smaller. Below, nothing overflows: a pair's weighted
/// sum is below 2^58, its analytic signal below 2^62, the sum over 2^20 pairs below 2^82, and the square of a pixel, their
/// mean, below 2^125.
ECHOFORM_HOST_DEVICE std::uint32_t least_invalid_sample(float weight) {
  const float magnitude = weight < 0.0F ? -weight : weight;
  return __builtin_bit_cast(std::uint32_t, magnitude > 2.0F ? 0x1p57F / magnitude : 0x1p56F);
}

/// Whether a float32 sample, given by its bits, is taken as 0: NaN, infinite, or `least` (of least_invalid_sample()) or more.
ECHOFORM_HOST_DEVICE bool is_invalid_sample(std::uint32_t bits, std::uint32_t least) {
  return (bits & 0x7fffffffu) >= least;
}

/// Whether a float32, given by its bits, is NaN or infinite.
ECHOFORM_HOST_DEVICE bool is_invalid_float(std::uint32_t bits) {
  return (bits & 0x7f800000u) == 0x7f800000u;
}

}  // namespace echoform
