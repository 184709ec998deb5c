// What transmit events may say.
#pragma once

#include <string_view>

#include "acquisition/acquisition.hpp"

namespace echoform {

/// Throws InputError (naming `where` and the event) unless the events of an acquisition, whose probe has been checked, are of
/// elements of the probe, each named once in an event, with finite delays below 1 s, and weights and velocities within their
/// ranges (ranges.hpp); elements that fire alone do so in one event; plane waves of an array that is not flat state their
/// slowness along z; rows of codes stand with rows of codes alone. It takes a time that the events' own lists bound: what the
/// probe alone decides is found once.
void validate_events(const Acquisition& acquisition, std::string_view where);

}  // namespace echoform
