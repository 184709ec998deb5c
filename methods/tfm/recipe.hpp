// The chain of the total focusing method: pairs, analytic signal, and for each view image, envelope and display.
#pragma once

#include "methods/tfm/setup.hpp"
#include "methods/tfm/stage_options.hpp"
#include "pipeline/recipe.hpp"

namespace echoform {

/// Of a valid plan, with the outputs that it wishes for: for each view the complex image (if wished), the envelope, the display
/// (if wished). Views that are each other's mirror are one computation where only one of both directions was received.
[[nodiscard]] Recipe make_tfm_recipe(const ImagingPlan& plan);

/// The first view that, by reciprocity, has the same images as `view`; `pairs` are those of the plan.
[[nodiscard]] std::size_t first_alike(const ImagingPlan& plan, const PlanPairs& pairs, std::size_t view);

}  // namespace echoform
