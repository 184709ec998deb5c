// Contact imaging: elements on the part.
#pragma once

#include "delay_laws/delay_law.hpp"

namespace echoform {

/// One leg: tau(i, p) = |p - centre of element i| / c, with c the velocity of the side's mode. (Holmes, Drinkwater and Wilcox
/// 2005, equation 2.) Sides of more legs are rays that begin at the element, without couplant: the first leg ends at the scene's
/// backwall, each further one at the front surface from below and at the backwall in turn (delay_laws/ray_leg.hpp).
/// Throws InputError for a name that is no view, a velocity that the view uses and that is not a positive number, a skip without
/// a backwall, and a scene with a couplant, which this law would leave out.
[[nodiscard]] DelayLaw make_contact_law(const DelayLawRequest& request);

}  // namespace echoform
