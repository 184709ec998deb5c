// From a view's name to a law, given how a leg is made of its modes: what laws whose views are named by modes have in common.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "delay_laws/delay_law.hpp"
#include "delay_laws/view.hpp"

namespace echoform {

/// The leg whose modes are, from the element to the pixel, `modes` ("L", "TL").
using LegMaker = std::function<std::shared_ptr<const Leg>(const std::string& modes)>;

/// Both sides of the request's view, each through the request's cache, so that sides of the same modes are one leg.
/// Throws InputError for a name that is no view, and what `make` throws.
[[nodiscard]] DelayLaw law_of_view(const DelayLawRequest& request, const LegMaker& make);

/// Velocity of 'L' or 'T' in the part. Throws InputError, naming the key, unless it is positive.
[[nodiscard]] MetresPerSecond velocity_of_mode(char mode, const Material& material);

}  // namespace echoform
