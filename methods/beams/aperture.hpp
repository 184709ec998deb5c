// Which elements a line hears at which range, and how strongly.
#pragma once

#include <functional>
#include <optional>

#include "acquisition/acquisition.hpp"
#include "methods/beams/section.hpp"
#include "stages/scan_lines/line_set.hpp"

namespace echoform {

/// Fills the weights of `set`, whose elements, events, lines and ranges are there. Places are those along the probe's x, as seen
/// from a line's origin (along an arc by its chord), and across. With an f-number F a line hears at range r what lies within a =
/// r / (2 F) of its origin both ways, at most as far as the outermost of the event's receivers and half a pitch; without one all
/// receivers, about their middle. The window lies over 2 a. Dead elements are unheard. `may_take` is told the bytes of all
/// weights before they grow to so many: what it throws ends it.
void weigh_receivers(LineSet& set, const Probe& probe, const Window& window, std::optional<double> f_number,
                     const std::function<void(double)>& may_take);

}  // namespace echoform
