// How the values of an image are shown: in decibels, or as the numbers that they are.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace echoform {

enum class ScaleKind : std::uint8_t {
  decibels,        ///< of amplitudes: 20 log10(value / reference), from 0 dB down to the end of the dynamic range
  power_decibels,  ///< of powers: 10 log10(value / reference)
  from_zero,       ///< numbers from 0 to the end of the scale
  symmetric,       ///< numbers with a sign, from -end to end, with 0 in the middle
};

struct ValueScale {
  ScaleKind kind = ScaleKind::decibels;
  double end = 0.0;     ///< for numbers: the largest one on the scale; 0: the reference of each frame
  bool masked = false;  ///< whether pixels may have no value, which is not a number (NaN)

  [[nodiscard]] friend bool operator==(const ValueScale&, const ValueScale&) = default;
};

[[nodiscard]] constexpr bool shows_numbers(ScaleKind kind) {
  return kind == ScaleKind::from_zero || kind == ScaleKind::symmetric;
}
/// The lower end of a scale of numbers.
[[nodiscard]] constexpr double lower_end(ScaleKind kind, double end) {
  return kind == ScaleKind::symmetric ? -end : 0.0;
}
/// Decibels of a factor of 10.
[[nodiscard]] constexpr double decibels_a_decade(ScaleKind kind) {
  return kind == ScaleKind::power_decibels ? 10.0 : 20.0;
}

// Display images have 8 bits a pixel. In decibels 0 is the lower end and 255 is 0 dB; with masked pixels 0 is no value and 1
// the lower end. On a scale of numbers 0 is no value, and 1 to 255 are evenly spaced from the lower end to the upper one:
// 128 is 0 if symmetric.
inline constexpr int first_level_of_numbers = 1;
inline constexpr int levels_of_numbers = 254;  ///< from the lowest to the highest

/// The number that a level of a display image stands for on a scale of numbers; NaN if the level means "no value".
[[nodiscard]] inline double number_of_level(ScaleKind kind, double end, std::uint8_t level) {
  if (level < first_level_of_numbers) return std::numeric_limits<double>::quiet_NaN();
  const double low = lower_end(kind, end);
  return low + (end - low) * (level - first_level_of_numbers) / levels_of_numbers;
}

}  // namespace echoform
