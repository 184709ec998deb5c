// Colours of images.
#pragma once

#include <array>
#include <cstdint>

namespace echoform {

using Rgb = std::array<std::uint8_t, 3>;

/// Colour of `value` (0 .. 1, clamped; NaN is a neutral grey): dark blue over green to yellow, lightness rising evenly.
[[nodiscard]] Rgb sequential_colour(double value);

/// Colour of a number with a sign, of -1 .. 1 (clamped; NaN is a neutral grey): red above 0, blue below, nearly white at 0.
/// Lightness (CIE L*) falls evenly from 96 to 30 to either side, and red and blue are distinguishable with any colour
/// blindness.
[[nodiscard]] Rgb diverging_colour(double value);

/// Colour of pixels without a value. It lies on neither map, and is distinguishable from both with any colour blindness.
inline constexpr Rgb no_value_colour{96, 96, 96};

}  // namespace echoform
