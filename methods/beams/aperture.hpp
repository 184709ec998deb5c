// Which elements receive for a line at each range, and with which weights.
#pragma once

#include <functional>
#include <optional>

#include "acquisition/acquisition.hpp"
#include "methods/beams/section.hpp"
#include "stages/scan_lines/line_set.hpp"

namespace echoform {

/// Fills the weights of `set`, whose elements, events, lines and ranges are set already. Places are along the probe's x, as
/// seen from a line's origin (for an arc, along its chord), and across. With an f-number F, a line at range r receives with
/// the elements within a = r / (2 F) of its origin along both axes. This is limited to the outermost of the event's
/// receivers plus half a pitch. Without an f-number all receivers count, about their middle. The window lies over 2 a. Dead
/// elements have no weight. `may_take` is called with the bytes of all weights before they grow to that size; an exception
/// from it ends the work.
void weigh_receivers(LineSet& set, const Probe& probe, const Window& window, std::optional<double> f_number,
                     const std::function<void(double)>& may_take);

}  // namespace echoform
