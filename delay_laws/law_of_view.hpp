// Makes a law from a view's name, given a function that makes a leg from its modes: the common part of all laws whose views
// are named by modes.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "delay_laws/delay_law.hpp"
#include "delay_laws/view.hpp"

namespace echoform {

/// The leg whose modes are, from the element to the pixel, `modes` ("L", "TL").
using LegMaker = std::function<std::shared_ptr<const Leg>(const std::string& modes)>;

/// Both sides of the request's view, a registered one (view_kind.hpp) or one by modes, each through the request's cache, so that
/// sides of the same modes are one leg.
/// Throws InputError for a name that is no view, and what `make` and the view throw.
[[nodiscard]] DelayLaw law_of_view(const DelayLawRequest& request, const LegMaker& make);

/// Velocity of 'L' or 'T' in the part. Throws InputError, naming the key, unless it is positive.
[[nodiscard]] MetresPerSecond velocity_of_mode(char mode, const Material& material);

}  // namespace echoform
