// Outputs of images that scroll.
#pragma once

#include <cstddef>

#include "methods/beams/plan.hpp"
#include "methods/method.hpp"
#include "pipeline/recipe.hpp"

namespace echoform {

/// M-mode, [time, range], and its display, of `envelope`: the image's lines. Nothing where the plan has none.
void add_m_mode(Recipe& recipe, const BeamsPlan& plan, std::size_t envelope);

/// The spectrum, [time, velocity], and its display, of `samples`: lines of ensembles behind the wall filter. Nothing where the
/// plan has none.
void add_spectrum(Recipe& recipe, const BeamsPlan& plan, std::size_t samples);

}  // namespace echoform
