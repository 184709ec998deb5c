// The outlines of probe, front surface and backwall near an image.
#pragma once

#include <vector>

#include "methods/tfm/plan.hpp"
#include "pipeline/outline.hpp"
#include "rays/scene.hpp"

namespace echoform {

/// The outlines of the probe (the element centres) and of the surfaces of the scene. Surfaces are cut to a window in x: the
/// extent of `shown`, the grid of images, and of the probe together, and a quarter of that extent on either side. If there
/// are more points than most_outline_points, they are thinned out evenly, always with both ends; a curve deviates by less
/// than a thousandth of its radius. A surface in three dimensions gives its section with the plane of the image, or with the
/// middle plane of a volume, seen from above. Empty where there is neither probe nor surface; a surface that lies elsewhere
/// is left out.
[[nodiscard]] std::vector<Outline> make_outlines(const ImagingPlan& plan, const Scene& scene, const Grid& shown);

}  // namespace echoform
