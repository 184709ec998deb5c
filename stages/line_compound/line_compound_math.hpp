// Arithmetic of the compounding of lines that host and device share.
#pragma once

#include <math.h>

#include <cstddef>
#include <cstdint>

#include "gpu/host_device.hpp"

namespace echoform {

/// Tolerance in lines or ranges: a place that rounding puts beyond the outermost one by at most this counts as on it.
inline constexpr double compound_edge = 1e-6;

/// Place of a range of the image among a set's ranges. It is the same for all lines of the image except for the position
/// across the lines.
struct RangePlace {
  std::uint32_t whole = 0;
  float part = 0.0F;    ///< fraction of the step to the next range; below 0: not covered
  double across = 0.0;  ///< position of the image's line 0, in lines of the set
};

struct CompoundSet {
  std::uint32_t first_row = 0;
  std::uint32_t lines = 0;  ///< at least 2
  double step = 0.0;        ///< lines of the set from a line of the image to the next
};

/// Adds a set's envelope at a place of line `line` of the image to `sum`. Returns whether the set covers the place. Rows of
/// `input` are `stride` apart.
ECHOFORM_HOST_DEVICE bool add_covering(const float* input, std::size_t stride, const CompoundSet& set, const RangePlace& place,
                                       std::size_t line, float& sum) {
  if (place.part < 0.0F) return false;
  const double across = place.across + static_cast<double>(line) * set.step;
  const auto last = static_cast<double>(set.lines - 1);
  if (across < -compound_edge || across > last + compound_edge) return false;
  double lower = floor(across);
  lower = lower < 0.0 ? 0.0 : (lower > last - 1.0 ? last - 1.0 : lower);
  double share = across - lower;
  share = share < 0.0 ? 0.0 : (share > 1.0 ? 1.0 : share);
  const float* const a = input + (set.first_row + static_cast<std::size_t>(lower)) * stride + place.whole;
  const float* const b = a + stride;
  const float of_a = a[0] + place.part * (a[1] - a[0]);
  const float of_b = b[0] + place.part * (b[1] - b[0]);
  sum += of_a + static_cast<float>(share) * (of_b - of_a);
  return true;
}

}  // namespace echoform
