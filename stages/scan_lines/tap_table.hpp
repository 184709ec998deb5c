// A delay filter as the loops along lines read it.
#pragma once

#include "stages/scan_lines/delay_filter.hpp"
#include "stages/scan_lines/line_kernels.hpp"

namespace echoform::scan_lines {

/// Each coefficient goes through the filter's own at four Chebyshev places of each piece of the fraction: straight lines stay
/// what they are, and smooth coefficients are right to 1e-6.
[[nodiscard]] TapTable make_tap_table(const DelayFilter& filter);

}  // namespace echoform::scan_lines
