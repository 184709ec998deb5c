// Outputs of images that scroll.
#pragma once

#include <cstddef>

#include "methods/beams/plan.hpp"
#include "methods/method.hpp"
#include "pipeline/recipe.hpp"

namespace echoform {

/// Adds M-mode, [time, range], and its display. `envelope` is the block of the image's lines. Adds nothing where the plan
/// has no M-mode.
void add_m_mode(Recipe& recipe, const BeamsPlan& plan, std::size_t envelope);

/// Adds the spectrum, [time, velocity], and its display. `samples` is the block of lines of ensembles behind the wall
/// filter. Adds nothing where the plan has no spectrum.
void add_spectrum(Recipe& recipe, const BeamsPlan& plan, std::size_t samples);

}  // namespace echoform
