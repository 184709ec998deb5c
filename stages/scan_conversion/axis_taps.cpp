#include <algorithm>
#include <cmath>

#include "stages/scan_conversion/scan_conversion_math.hpp"

namespace echoform {
namespace {

constexpr double edge_pixels = 1e-6;
constexpr double edge_metres = 1e-9;

/// The place of `position` on the axis in pixels, or NaN outside of the axis.
double place_on(const Axis& axis, Metres position) {
  if (axis.count < 2) return std::abs((position - axis.first).value) <= edge_metres ? 0.0 : std::nan("");
  const double last = static_cast<double>(axis.count - 1);
  const double place = (position - axis.first) / axis.spacing();
  if (place < -edge_pixels || place > last + edge_pixels) return std::nan("");
  // Pixel centres that two grids share give whole numbers up to rounding. They become exactly whole here, so that such pixels are
  // copied.
  const double whole = std::round(place);
  return std::clamp(std::abs(place - whole) < 1e-9 * (1.0 + last) ? whole : place, 0.0, last);
}

}  // namespace

AxisTaps make_axis_taps(const Axis& input, const Axis& output, ScanInterpolation interpolation, double cubic_alpha) {
  AxisTaps table;
  table.taps = tap_count(interpolation);
  table.count = output.count;
  table.index.assign(table.taps * output.count, 0);
  table.weight.assign(table.taps * output.count, 0.0F);
  const auto last = static_cast<std::ptrdiff_t>(input.count) - 1;
  for (std::size_t pixel = 0; pixel < output.count; ++pixel) {
    const double place = place_on(input, output.at(pixel));
    if (std::isnan(place)) continue;
    if (table.end == 0) table.begin = pixel;
    table.end = pixel + 1;
    const auto put = [&](std::size_t tap, std::ptrdiff_t index, double weight) {
      table.index[tap * output.count + pixel] = static_cast<std::int32_t>(std::clamp<std::ptrdiff_t>(index, 0, last));
      table.weight[tap * output.count + pixel] = static_cast<float>(weight);
    };
    if (interpolation == ScanInterpolation::nearest) {
      put(0, static_cast<std::ptrdiff_t>(std::floor(place + 0.5)), 1.0);
      continue;
    }
    const auto cell = static_cast<std::ptrdiff_t>(std::floor(place));
    const double offset = place - static_cast<double>(cell);
    if (interpolation == ScanInterpolation::bilinear) {
      put(0, cell, 1.0 - offset);
      put(1, cell + 1, offset);
    } else {
      put(0, cell - 1, keys_kernel(1.0 + offset, cubic_alpha));
      put(1, cell, keys_kernel(offset, cubic_alpha));
      put(2, cell + 1, keys_kernel(1.0 - offset, cubic_alpha));
      put(3, cell + 2, keys_kernel(2.0 - offset, cubic_alpha));
    }
  }
  return table;
}

}  // namespace echoform
