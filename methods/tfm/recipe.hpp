// The chain of the total focusing method: pairs, analytic signal, and for each view image, envelope and display.
#pragma once

#include "methods/tfm/setup.hpp"
#include "methods/tfm/stage_options.hpp"
#include "pipeline/recipe.hpp"

namespace echoform {

/// The recipe of a valid plan, with the requested outputs: for each view the complex image (if requested), the envelope,
/// and the display (if requested). Views that mirror each other are computed once where only one of both directions was
/// received.
[[nodiscard]] Recipe make_tfm_recipe(const ImagingPlan& plan);

/// The first view that, by reciprocity, has the same images as `view`; `pairs` are those of the plan.
[[nodiscard]] std::size_t first_alike(const ImagingPlan& plan, const PlanPairs& pairs, std::size_t view);

}  // namespace echoform
