// A delay filter as the loops along lines read it.
#pragma once

#include "stages/scan_lines/delay_filter.hpp"
#include "stages/scan_lines/line_kernels.hpp"

namespace echoform::scan_lines {

/// Makes the table of a filter. Each coefficient equals the filter's own at four Chebyshev places of each piece of the
/// fraction. So straight lines are exact, and smooth coefficients are exact to 1e-6.
[[nodiscard]] TapTable make_tap_table(const DelayFilter& filter);

}  // namespace echoform::scan_lines
