// What transmit events may say.
#pragma once

#include <string_view>

#include "acquisition/acquisition.hpp"

namespace echoform {

/// Throws InputError (naming `where` and the event) unless the events of an acquisition, whose probe has been checked, are of
/// elements of the probe, each named once in an event, with finite delays below 1 s and finite weights that are not 0; elements
/// that fire alone do so in one event; plane waves are of a flat array; rows of codes stand with rows of codes alone.
void validate_events(const Acquisition& acquisition, std::string_view where);

}  // namespace echoform
