// The display image of lines: the grid on which the part is shown, and the step that brings lines there.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/grid.hpp"
#include "methods/beams/line_fan.hpp"
#include "methods/beams/plan.hpp"
#include "methods/display_settings.hpp"
#include "pipeline/recipe.hpp"

namespace echoform {

/// What the sector, the volume or the parallel lines take up, in square pixels, or what is stated of it.
[[nodiscard]] Grid resolve_display(const DisplaySection& display, const LineFan& fan, const LineRanges& ranges);

/// Adds the display image `name` of the compressed lines in block `compressed`.
void add_display(Recipe& recipe, const BeamsPlan& plan, std::string_view name, std::size_t compressed);

}  // namespace echoform
