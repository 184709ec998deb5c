// Contact imaging: elements on the part, straight rays.
#pragma once

#include "delay_laws/delay_law.hpp"

namespace echoform {

/// tau(i, p) = |p - centre of element i| / c, with c the velocity of the side's mode. (Holmes, Drinkwater and Wilcox 2005,
/// equation 2.) Views: "LL", "TT" (reciprocal), "LT", "TL"; the hyphenated spelling "L-T" is the same.
/// Throws InputError for any other view, or if the velocity of a mode that the view uses is not a positive number.
[[nodiscard]] DelayLaw make_contact_law(const DelayLawRequest& request);

}  // namespace echoform
