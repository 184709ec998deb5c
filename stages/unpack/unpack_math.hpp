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

/// Whether a float32, given by its bits, is NaN or infinite.
ECHOFORM_HOST_DEVICE bool is_invalid_float(std::uint32_t bits) {
  return (bits & 0x7f800000u) == 0x7f800000u;
}

}  // namespace echoform
