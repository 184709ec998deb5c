// Immersion and wedge imaging: couplant between the elements and the part, rays refracted where they enter it.
#pragma once

#include "delay_laws/delay_law.hpp"

namespace echoform {

/// Each side is a ray: from the element through the couplant (or a wedge, by its longitudinal velocity) to the scene's front
/// surface, refracted there, and on in the part by the modes of the view, reflected at the backwall and at the front surface
/// from below in turn. tau is Fermat's minimum time over that path (rays/ray_path.hpp); NaN beyond a critical angle, in a
/// shadow and for pixels that are not below the front surface, or for skips not above the backwall. Without a front surface
/// in the scene it is the plane z = 0. Throws InputError for a name that is no view, a couplant or a mode without a positive
/// velocity, and a skip without a backwall.
[[nodiscard]] DelayLaw make_immersion_law(const DelayLawRequest& request);

}  // namespace echoform
