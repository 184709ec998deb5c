// Logarithmic compression of an envelope to 8 bits.
#pragma once

#include <cstdint>

#include "gpu/host_device.hpp"

namespace echoform {

/// The level of an envelope e is slope * log2(e) + offset, rounded and clamped to 0 ... 255.
struct CompressionCurve {
  float slope = 0.0F;
  float offset = 0.0F;
};

/// log2 of a positive normal float, given by its bits, to 3e-6 in absolute terms besides the rounding of the result: below
/// 1e-4 dB over the whole range of floats.
/// With m in [sqrt(1/2), sqrt(2)) and t = (m - 1) / (m + 1): ln m = 2 (t + t^3/3 + t^5/5 + ...), where the first term left
/// out is 2 t^7/7 / ln 2 < 1.9e-6.
ECHOFORM_HOST_DEVICE float fast_log2(std::uint32_t bits) {
  constexpr std::uint32_t sqrt_half = 0x3f3504f3u;
  const std::int32_t exponent = static_cast<std::int32_t>(bits - sqrt_half) >> 23;
  const float m = __builtin_bit_cast(float, bits - (static_cast<std::uint32_t>(exponent) << 23));
  const float t = (m - 1.0F) / (m + 1.0F);
  const float t2 = t * t;
  return static_cast<float>(exponent) + t * (2.88539008F + t2 * (0.96179669F + t2 * 0.57707802F));
}

/// Whether bits are of a positive normal float or +infinity. Zeros, subnormal numbers, negative ones and NaN are shown as 0.
ECHOFORM_HOST_DEVICE bool is_visible(std::uint32_t bits) {
  return bits - 0x00800000u <= 0x7f800000u - 0x00800000u;
}

/// Level before rounding.
ECHOFORM_HOST_DEVICE float compression_level(std::uint32_t bits, CompressionCurve curve) {
  return curve.slope * fast_log2(bits) + curve.offset;
}

ECHOFORM_HOST_DEVICE std::uint8_t compress(std::uint32_t bits, CompressionCurve curve) {
  float level = compression_level(bits, curve);
  level = level > 0.0F ? level : 0.0F;
  level = level < 255.0F ? level : 255.0F;
  const auto rounded = static_cast<std::int32_t>(level + 0.5F);
  return static_cast<std::uint8_t>(is_visible(bits) ? rounded : 0);
}

/// Bits of a finite envelope, else 0: floats that are not negative are ordered as their bits, so peaks are found in
/// integers, in any order. A mask, not a choice, which compilers would merge with the search and then not vectorise.
ECHOFORM_HOST_DEVICE std::uint32_t finite_or_zero(std::uint32_t bits) {
  return bits & (0u - static_cast<std::uint32_t>(bits < 0x7f800000u));
}

}  // namespace echoform
