#include "formats/colour_map.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace echoform {
namespace {

using Anchor = std::array<double, 3>;

// Nine colours, equally spaced in value and nearly so in lightness.
constexpr std::array<Anchor, 9> sequential_anchors{{{68, 1, 84},
                                                    {71, 45, 123},
                                                    {59, 82, 139},
                                                    {44, 114, 142},
                                                    {33, 145, 140},
                                                    {40, 174, 128},
                                                    {94, 201, 98},
                                                    {173, 220, 48},
                                                    {253, 231, 37}}};

// Colours from -1 to 1, equally spaced in value and in lightness (L* 30, 38.25 ... 96 ... 30), with hues of 275 and 35 degrees in
// CIE Lab.
constexpr std::array<Anchor, 17> diverging_anchors{{{2, 72, 127},
                                                    {4, 92, 160},
                                                    {6, 113, 193},
                                                    {5, 134, 228},
                                                    {56, 155, 254},
                                                    {125, 176, 252},
                                                    {170, 198, 250},
                                                    {208, 220, 247},
                                                    {243, 243, 243},
                                                    {249, 212, 205},
                                                    {249, 180, 168},
                                                    {246, 148, 131},
                                                    {240, 115, 97},
                                                    {231, 77, 63},
                                                    {219, 21, 32},
                                                    {184, 2, 22},
                                                    {147, 1, 15}}};

/// The colour at 0 .. 1, clamped.
template <std::size_t Count>
Rgb colour_between(const std::array<Anchor, Count>& anchors, double value) {
  if (std::isnan(value)) return no_value_colour;
  const double place = std::clamp(value, 0.0, 1.0) * static_cast<double>(Count - 1);
  const auto k = std::min(static_cast<std::size_t>(place), Count - 2);
  const double t = place - static_cast<double>(k);
  Rgb colour{};
  for (std::size_t c = 0; c < 3; ++c) {
    // A Catmull-Rom spline through the anchors is smooth, so no anchor shows as an edge.
    const double p1 = anchors[k][c];
    const double p2 = anchors[k + 1][c];
    const double p0 = k > 0 ? anchors[k - 1][c] : 2 * p1 - p2;
    const double p3 = k + 2 < Count ? anchors[k + 2][c] : 2 * p2 - p1;
    const double smooth = p1 + 0.5 * t * (p2 - p0 + t * (2 * p0 - 5 * p1 + 4 * p2 - p3 + t * (3 * (p1 - p2) + p3 - p0)));
    colour[c] = static_cast<std::uint8_t>(std::lround(std::clamp(smooth, 0.0, 255.0)));
  }
  return colour;
}

}  // namespace

Rgb sequential_colour(double value) {
  return colour_between(sequential_anchors, value);
}

Rgb diverging_colour(double value) {
  return colour_between(diverging_anchors, 0.5 * (value + 1.0));
}

}  // namespace echoform
