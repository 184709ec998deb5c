// Where probe, front surface and backwall lie beside an image.
#pragma once

#include <vector>

#include "methods/tfm/plan.hpp"
#include "pipeline/outline.hpp"
#include "rays/scene.hpp"

namespace echoform {

/// The element centres, and the surfaces that the scene has from a quarter of the way left of `shown`, the grid of images, and
/// probe to a quarter right of them. Of more points than most_outline_points every so many-th is taken, the ends always; a curve
/// is off by less than a thousandth of its radius. Of a surface in three dimensions it is the section with the plane of the
/// image, or the middle one of a volume, seen from above. Empty where there is neither probe nor surface; a surface that lies
/// elsewhere is left out.
[[nodiscard]] std::vector<Outline> make_outlines(const ImagingPlan& plan, const Scene& scene, const Grid& shown);

}  // namespace echoform
