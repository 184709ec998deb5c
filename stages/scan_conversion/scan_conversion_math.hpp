// Interpolation along one axis: the input pixels that contribute to an output pixel, and their weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/grid.hpp"
#include "gpu/host_device.hpp"
#include "stages/scan_conversion/scan_interpolation.hpp"

namespace echoform {

/// Keys' cubic convolution kernel at distance x >= 0 from a sample; alpha is its slope at x = 1. Any alpha keeps constants;
/// alpha = -1/2 alone keeps straight lines and parabolas too. (R. G. Keys, IEEE Trans. ASSP 29, 1981.)
ECHOFORM_HOST_DEVICE double keys_kernel(double x, double alpha) {
  if (x < 1.0) return ((alpha + 2.0) * x - (alpha + 3.0)) * x * x + 1.0;
  if (x < 2.0) return ((alpha * x - 5.0 * alpha) * x + 8.0 * alpha) * x - 4.0 * alpha;
  return 0.0;
}

/// Rounds to the nearest level and clamps: cubic convolution overshoots. NaN becomes 0.
ECHOFORM_HOST_DEVICE std::uint8_t level_of(float value) {
  value = value > 0.0F ? value : 0.0F;
  value = value < 255.0F ? value : 255.0F;
  return static_cast<std::uint8_t>(static_cast<std::int32_t>(value + 0.5F));
}

/// Taps of every output pixel of an axis, one run of `count` after the other: place [tap * count + pixel].
/// Pixels outside [begin, end) lie outside of the input axis and have no taps worth reading.
struct AxisTaps {
  std::size_t taps = 0;   ///< 1 nearest, 2 bilinear, 4 cubic
  std::size_t count = 0;  ///< output pixels
  std::size_t begin = 0;
  std::size_t end = 0;
  std::vector<std::int32_t> index;  ///< 0 <= index < input.count; taps beyond an end are clamped to it
  std::vector<float> weight;        ///< adds to 1 over the taps
};

/// Number of taps of an output pixel.
[[nodiscard]] constexpr std::size_t tap_count(ScanInterpolation interpolation) {
  return interpolation == ScanInterpolation::nearest ? 1 : interpolation == ScanInterpolation::bilinear ? 2 : 4;
}
/// Bytes that the tables of an axis take, without AxisTaps::begin and end.
[[nodiscard]] constexpr std::size_t tap_bytes(ScanInterpolation interpolation, std::size_t count) {
  return tap_count(interpolation) * count * (sizeof(std::int32_t) + sizeof(float));
}

/// A centre counts as inside up to 1e-6 of a pixel beyond the first and last centres of `input` (1 nm where it is a single
/// pixel), so that grids with common ends agree. Nearest rounds halves up.
[[nodiscard]] AxisTaps make_axis_taps(const Axis& input, const Axis& output, ScanInterpolation interpolation, double cubic_alpha);

}  // namespace echoform
