// The rules for transmit events.
#pragma once

#include <string_view>

#include "acquisition/acquisition.hpp"

namespace echoform {

/// Throws InputError (naming `where` and the event) unless the events of an acquisition, whose probe has been checked, name
/// elements of the probe, each once in an event, with finite delays below 1 s, and weights and velocities within their
/// ranges (ranges.hpp). An element fires alone in at most one event. Plane waves of an array that is not flat state their
/// slowness along z. Rows of codes occur only with other rows of codes. The time is bounded by the length of the events' own
/// lists: what depends on the probe alone is computed once.
void validate_events(const Acquisition& acquisition, std::string_view where);

}  // namespace echoform
