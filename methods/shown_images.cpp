#include "methods/shown_images.hpp"

#include <utility>

#include "stages/compression/compression.hpp"
#include "stages/scan_conversion/scan_conversion.hpp"

namespace echoform {
namespace {

bool reaches_beyond(const Axis& axis, const Axis& other) {
  return axis.first < other.first || axis.last > other.last;
}

bool reaches_beyond(const Grid& grid, const Grid& other) {
  return reaches_beyond(grid.x, other.x) || reaches_beyond(grid.z, other.z);
}

}  // namespace

void add_shown_image(Recipe& recipe, const OutputDescription& image, std::size_t block, const Compression& settings,
                     ShownLevels levels, const std::function<RecipeOutput(std::size_t compressed)>& convert) {
  const bool display = levels != ShownLevels::none;
  Compression compression = compression_of(settings, image.scale);
  compression.masked |= levels == ShownLevels::with_gaps;
  const std::size_t compressed = display ? recipe.add(compression_stage, compression, {block}) : 0;
  recipe.outputs.push_back({image, block, compressed});
  if (!display) return;
  RecipeOutput shown = convert(compressed);
  shown.reference_block = compressed;
  recipe.outputs.push_back(std::move(shown));
}

void add_grid_image(Recipe& recipe, const OutputDescription& image, std::size_t block, const GridDisplay& display) {
  // Beyond the image, scan conversion gives level 0. No level of the image may be 0 then, because a missing echo would look the
  // same.
  const bool gaps = display.grid && reaches_beyond(*display.grid, image.grid);
  const ShownLevels levels = !display.wanted ? ShownLevels::none : gaps ? ShownLevels::with_gaps : ShownLevels::all;
  add_shown_image(recipe, image, block, display.compression, levels, [&](std::size_t compressed) {
    std::size_t shown = compressed;
    if (display.grid) {
      ScanInterpolation interpolation = interpolation_of(display.interpolation, image);
      // Cubic interpolation would go below level 1 beside bright pixels.
      if (gaps && interpolation == ScanInterpolation::cubic) interpolation = ScanInterpolation::bilinear;
      const ScanConversionOptions options{image.grid, *display.grid, interpolation, display.cubic_alpha};
      shown = recipe.add(scan_conversion_stage, options, {compressed});
    }
    RecipeOutput output{display_of(image, display.grid.value_or(image.grid)), shown};
    output.description.scale.masked |= gaps;
    return output;
  });
}

OutputDescription display_of(const OutputDescription& image, const Grid& grid) {
  OutputDescription display{image.view, OutputKind::display, grid};
  display.pixels = image.pixels;
  display.scale = image.scale;
  display.limit = image.limit;
  return display;
}

ScanInterpolation interpolation_of(ScanInterpolation wanted, const OutputDescription& image) {
  if (image.limit > 0.0 || image.scale.masked) return ScanInterpolation::nearest;
  if (!shows_numbers(image.scale.kind)) return wanted;
  return wanted == ScanInterpolation::cubic ? ScanInterpolation::bilinear : wanted;
}

Compression compression_of(const Compression& settings, const ValueScale& scale) {
  Compression compression = settings;
  compression.scale = scale.kind;
  compression.end = scale.end;
  compression.masked = scale.masked;
  return compression;
}

void mask_images(Recipe& recipe) {
  for (RecipeOutput& output : recipe.outputs) {
    const OutputKind kind = output.description.kind;
    if (kind == OutputKind::envelope || kind == OutputKind::display) output.description.scale.masked = true;
  }
  for (Step& step : recipe.steps) {
    if (step.stage != &compression_stage) continue;
    auto settings = step.options.as<Compression>();
    settings.masked = true;
    step.options = settings;
  }
}

}  // namespace echoform
