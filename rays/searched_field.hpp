// Rays over several surfaces of which some are in three dimensions, and skips off such: a search over places on all of them.
#pragma once

#include <memory>
#include <vector>

#include "rays/ray_field.hpp"

namespace echoform::rays {

/// Surfaces are known by their distances and feet alone. On each, places about as far apart as a 24th of what sources and points
/// span are had from cells that it goes through; least times over those, surface by surface, are where searches begin; Newton's
/// method over all places at once ends them, in the tangent planes and with the surfaces' curvatures, or from triangle to
/// triangle. To 1e-12 s. Expects a path that check_path() takes, with an interface.
[[nodiscard]] std::unique_ptr<RayField> make_searched_field(const RayPath& path, std::vector<Point> sources);

}  // namespace echoform::rays
