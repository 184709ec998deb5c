// Rays through a profile that is revolved about an axis.
//
// A place of the surface is given by t on the profile and an angle about the axis. For a place of the profile, the time is
// minimal at an angle between those of source and point; T*(t) is this minimum. A ray lies where the slope of T* changes from
// minus to plus between two nodes of the profile. The slope of T* is that of T at this angle, since T does not change there
// with the angle.
#pragma once

#include <memory>
#include <vector>

#include "rays/ray_field.hpp"
#include "rays/revolved_surface.hpp"

namespace echoform {

/// `surface` is the one that `path` goes through, which keeps it.
[[nodiscard]] std::unique_ptr<RayField> make_revolved_field(const RayPath& path, std::vector<Point> sources,
                                                            const RevolvedSurface& surface);

}  // namespace echoform
