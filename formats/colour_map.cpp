#include "formats/colour_map.hpp"

#include <algorithm>
#include <cmath>

namespace echoform {
namespace {

// Nine colours, equally spaced in value and nearly so in lightness.
constexpr std::array<std::array<double, 3>, 9> anchors{{{68, 1, 84},
                                                        {71, 45, 123},
                                                        {59, 82, 139},
                                                        {44, 114, 142},
                                                        {33, 145, 140},
                                                        {40, 174, 128},
                                                        {94, 201, 98},
                                                        {173, 220, 48},
                                                        {253, 231, 37}}};

}  // namespace

Rgb sequential_colour(double value) {
  if (std::isnan(value)) return {128, 128, 128};
  const double place = std::clamp(value, 0.0, 1.0) * static_cast<double>(anchors.size() - 1);
  const auto k = std::min(static_cast<std::size_t>(place), anchors.size() - 2);
  const double t = place - static_cast<double>(k);
  Rgb colour{};
  for (std::size_t c = 0; c < 3; ++c) {
    // Catmull-Rom through the anchors: smooth, so that no anchor shows as an edge.
    const double p1 = anchors[k][c];
    const double p2 = anchors[k + 1][c];
    const double p0 = k > 0 ? anchors[k - 1][c] : 2 * p1 - p2;
    const double p3 = k + 2 < anchors.size() ? anchors[k + 2][c] : 2 * p2 - p1;
    const double smooth = p1 + 0.5 * t * (p2 - p0 + t * (2 * p0 - 5 * p1 + 4 * p2 - p3 + t * (3 * (p1 - p2) + p3 - p0)));
    colour[c] = static_cast<std::uint8_t>(std::lround(std::clamp(smooth, 0.0, 255.0)));
  }
  return colour;
}

}  // namespace echoform
