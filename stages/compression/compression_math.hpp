// Compression of values to 8 bits, logarithmic or linear.
#pragma once

#include <cstdint>

#include "base/value_scale.hpp"
#include "gpu/host_device.hpp"
#include "pipeline/shown_reference.hpp"

namespace echoform {

/// The meaning of levels. Level 0 means "no value" where pixels may have none, and on scales of numbers.
enum class LevelKind : std::uint8_t { decibels, masked_decibels, numbers };
inline constexpr int first_level_with_value = 1;

/// The level of a value v is slope * log2(v) + offset, rounded and clamped to 0 ... 255, or to 1 ... 255 where level 0 is no
/// value; on a scale of numbers it is slope * v + offset, clamped to 1 ... 255.
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

/// log2 of a positive normal float, given by its bits, to 1e-15 of its size or of 1, whichever is more, and the same bits on
/// every backend: as fast_log2 in double precision, with terms up to t^25 (the next is below 1e-21).
ECHOFORM_HOST_DEVICE double exact_log2(std::uint32_t bits) {
  constexpr std::uint32_t sqrt_half = 0x3f3504f3u;
  const std::int32_t exponent = static_cast<std::int32_t>(bits - sqrt_half) >> 23;
  const double m = __builtin_bit_cast(float, bits - (static_cast<std::uint32_t>(exponent) << 23));
  const double t = (m - 1.0) / (m + 1.0);
  const double t2 = t * t;
  double sum = 1.0 / 25.0;
  for (int odd = 23; odd >= 1; odd -= 2) sum = sum * t2 + 1.0 / odd;
  return exponent + 2.8853900817779268 * (t * sum);  // 2 / ln 2
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

/// As compress(), but 0 for NaN alone: whatever has a value is at least 1.
ECHOFORM_HOST_DEVICE std::uint8_t compress_masked(std::uint32_t bits, CompressionCurve curve) {
  constexpr auto lowest = static_cast<float>(first_level_with_value);
  float level = compression_level(bits, curve);
  level = level > lowest ? level : lowest;
  level = level < 255.0F ? level : 255.0F;
  const auto rounded = static_cast<std::int32_t>(level + 0.5F);
  const std::int32_t invisible = (bits & 0x7fffffffu) <= 0x7f800000u ? first_level_with_value : 0;
  return static_cast<std::uint8_t>(is_visible(bits) ? rounded : invisible);
}

/// The level of a number; 0 for NaN.
ECHOFORM_HOST_DEVICE std::uint8_t level_of_number(std::uint32_t bits, CompressionCurve curve) {
  constexpr auto lowest = static_cast<float>(first_level_of_numbers);
  constexpr auto highest = static_cast<float>(first_level_of_numbers + levels_of_numbers);
  float level = curve.slope * __builtin_bit_cast(float, bits) + curve.offset;
  level = level > lowest ? level : lowest;
  level = level < highest ? level : highest;
  const auto rounded = static_cast<std::int32_t>(level + 0.5F);
  return static_cast<std::uint8_t>((bits & 0x7fffffffu) <= 0x7f800000u ? rounded : 0);
}

/// Bits of a finite envelope, else 0: floats that are not negative are ordered as their bits, so peaks are found in
/// integers, in any order. A mask, not a choice, which compilers would merge with the search and then not vectorise.
ECHOFORM_HOST_DEVICE std::uint32_t finite_or_zero(std::uint32_t bits) {
  return bits & (0u - static_cast<std::uint32_t>(bits < 0x7f800000u));
}

/// The same of the magnitude of a number.
ECHOFORM_HOST_DEVICE std::uint32_t finite_magnitude_or_zero(std::uint32_t bits) {
  return finite_or_zero(bits & 0x7fffffffu);
}

/// The value shown as 0 dB, or as the end of a scale of numbers, from frame to frame, and what it is made with.
struct ReferenceRule {
  double slope = 0.0;  ///< levels per doubling of the value; on a scale of numbers from 0 to the end
  double gain = 0.0;   ///< level of the reference; on a scale of numbers level of 0
  double end = 1.0;    ///< what is shown, over the reference
  LevelKind kind = LevelKind::decibels;
  double fraction = 1.0;  ///< part of the distance that the reference moves towards a lower peak
  double smallest = 0.0;  ///< keeps the reference a normal number while frames without signal pull it down
  double unset = 1.0;     ///< shown while there is no reference; the reference itself where that is fixed
  bool follows = true;    ///< whether the reference follows the peaks of frames; else it is fixed
};

/// The reference after a frame with `peak`, finite and at least 0; 0 is "none yet".
ECHOFORM_HOST_DEVICE double followed(double reference, float peak, const ReferenceRule& rule) {
  const double target = peak;
  if (target >= reference) return target;
  const double lower = reference + rule.fraction * (target - reference);
  return lower < rule.smallest ? rule.smallest : lower;
}

/// The reference for the first frame after a change of rules. A running reference continues; one that was fixed before is
/// discarded, since it is no peak.
ECHOFORM_HOST_DEVICE double reference_after_change(double reference, const ReferenceRule& before, const ReferenceRule& after) {
  if (!after.follows) return after.unset;
  return before.follows ? reference : 0.0;
}

ECHOFORM_HOST_DEVICE float shown_reference(double reference, const ReferenceRule& rule) {
  return static_cast<float>(rule.end * (reference > 0.0 ? reference : rule.unset));
}

ECHOFORM_HOST_DEVICE ShownReference reference_state(double reference, const ReferenceRule& rule) {
  return {shown_reference(reference, rule), rule.follows ? static_cast<float>(reference) : 0.0F};
}

/// 255 (1 + (20 log10(v / reference) + gain) / range), with 20 log10(v) = 20 log10(2) log2(v), or the line through 0 and the end.
/// `reference` is the one that is shown.
ECHOFORM_HOST_DEVICE CompressionCurve curve_for(float reference, const ReferenceRule& rule) {
  if (rule.kind == LevelKind::numbers) {
    // Frames without signal reduce the reference until the slope would be infinite and the level of 0 would be NaN.
    const double slope = rule.slope / static_cast<double>(reference);
    return {static_cast<float>(slope < 3e38 ? slope : 3e38), static_cast<float>(rule.gain)};
  }
  const double offset = rule.gain - rule.slope * exact_log2(__builtin_bit_cast(std::uint32_t, reference));
  return {static_cast<float>(rule.slope), static_cast<float>(offset)};
}

/// The reference and its rule in the memory of a GPU.
struct DeviceReference {
  double reference = 0.0;  ///< 0: none yet
  ReferenceRule rule;      ///< of the frames that follow
  CompressionCurve curve;  ///< of the frame under way
  ShownReference shown;    ///< of the frame last finished
  std::uint32_t peak = 0;  ///< bits of the highest finite envelope found so far in the frame under way
  unsigned blocks = 0;     ///< that have searched their part
};

}  // namespace echoform
