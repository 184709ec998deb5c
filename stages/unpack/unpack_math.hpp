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

/// Whether a float32 sample, given by its bits, is taken as 0: NaN, infinite, or 2^56 (7e16) or more in magnitude, which no
/// amplitude is. Below, nothing overflows: a pair's sum is below 2^57, its analytic signal below 2^61, the sum over 2^20 pairs
/// below 2^81, and the square of a pixel, which is their mean, below 2^123.
ECHOFORM_HOST_DEVICE bool is_invalid_sample(std::uint32_t bits) {
  return (bits & 0x7fffffffu) >= 0x5b800000u;
}

/// Whether a float32, given by its bits, is NaN or infinite.
ECHOFORM_HOST_DEVICE bool is_invalid_float(std::uint32_t bits) {
  return (bits & 0x7f800000u) == 0x7f800000u;
}

}  // namespace echoform
