// The display image of lines: the grid on which the part is shown, and the step that brings lines there.
#pragma once

#include <cstddef>

#include "base/grid.hpp"
#include "methods/beams/line_fan.hpp"
#include "methods/beams/plan.hpp"
#include "methods/display_settings.hpp"
#include "pipeline/recipe.hpp"

namespace echoform {

/// The grid that the sector, the volume or the parallel lines take up, in square pixels, unless [display] states another.
[[nodiscard]] Grid resolve_display(const DisplaySection& display, const LineFan& fan, const LineRanges& ranges);

/// Adds the output `image` of lines in `block` and, if `display` is true, its display image.
void add_line_image(Recipe& recipe, const BeamsPlan& plan, const OutputDescription& image, std::size_t block, bool display);

}  // namespace echoform
