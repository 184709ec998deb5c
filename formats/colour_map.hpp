// Colours of images.
#pragma once

#include <array>
#include <cstdint>

namespace echoform {

using Rgb = std::array<std::uint8_t, 3>;

/// Colour of `value` (0 .. 1, clamped; NaN is a neutral grey): dark blue over green to yellow, lightness rising evenly.
[[nodiscard]] Rgb sequential_colour(double value);

}  // namespace echoform
