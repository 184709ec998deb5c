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

void add_shown_image(Recipe& recipe, const OutputDescription& image, std::size_t block, const Compression& settings, bool display,
                     const std::function<RecipeOutput(std::size_t compressed)>& convert) {
  const std::size_t compressed = display ? recipe.add(compression_stage, compression_of(settings, image.scale), {block}) : 0;
  recipe.outputs.push_back({image, block, compressed});
  if (!display) return;
  RecipeOutput shown = convert(compressed);
  shown.reference_block = compressed;
  recipe.outputs.push_back(std::move(shown));
}

void add_grid_image(Recipe& recipe, const OutputDescription& image, std::size_t block, const GridDisplay& display) {
  add_shown_image(recipe, image, block, display.compression, display.wanted, [&](std::size_t compressed) {
    std::size_t shown = compressed;
    if (display.grid) {
      const ScanConversionOptions options{image.grid, *display.grid, interpolation_of(display.interpolation, image),
                                          display.cubic_alpha};
      shown = recipe.add(scan_conversion_stage, options, {compressed});
    }
    RecipeOutput output{display_of(image, display.grid.value_or(image.grid)), shown};
    // Beyond the image scan conversion gives level 0, which numbers have where there is no value.
    if (display.grid && shows_numbers(image.scale.kind) && reaches_beyond(*display.grid, image.grid)) {
      output.description.scale.masked = true;
    }
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
  if (!shows_numbers(image.scale.kind)) return wanted;
  if (image.limit > 0.0 || image.scale.masked) return ScanInterpolation::nearest;
  return wanted == ScanInterpolation::cubic ? ScanInterpolation::bilinear : wanted;
}

Compression compression_of(const Compression& settings, const ValueScale& scale) {
  Compression compression = settings;
  compression.scale = scale.kind;
  compression.end = scale.end;
  return compression;
}

void retune_compression(Recipe& recipe, const Compression& settings) {
  for (Step& step : recipe.steps) {
    if (step.stage != &compression_stage) continue;
    const auto& before = step.options.as<Compression>();
    step.options = compression_of(settings, {before.scale, before.end});
  }
}

}  // namespace echoform
