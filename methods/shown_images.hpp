// Outputs of an image and, where it is wished, of its display image, for every method.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/grid.hpp"
#include "pipeline/recipe.hpp"
#include "stages/compression/compression_options.hpp"
#include "stages/scan_conversion/scan_interpolation.hpp"

namespace echoform {

/// Of a display image: none is wanted, every pixel has a level, or some have none, as those beyond the image.
enum class ShownLevels : std::uint8_t { none, all, with_gaps };

/// Adds the output `image` of `block` and, where one is wanted, the display image of it: compressed by `settings` on the image's
/// own scale, and made an output by `convert`, which is given the compressed block.
void add_shown_image(Recipe& recipe, const OutputDescription& image, std::size_t block, const Compression& settings,
                     ShownLevels levels, const std::function<RecipeOutput(std::size_t compressed)>& convert);

/// How images on a grid of x and z are shown.
struct GridDisplay {
  bool wanted = true;
  Compression compression;
  std::optional<Grid> grid;  ///< where it is not that of the image
  ScanInterpolation interpolation = ScanInterpolation::bilinear;
  double cubic_alpha = -0.5;
};
/// add_shown_image() of an image on such a grid.
void add_grid_image(Recipe& recipe, const OutputDescription& image, std::size_t block, const GridDisplay& display);

/// The display image of `image` on `grid`, whose axes are x, y and z.
[[nodiscard]] OutputDescription display_of(const OutputDescription& image, const Grid& grid);
/// How levels of `image` are looked up between pixels, as far as its scale allows what is `wanted`: between numbers that wrap
/// round, or of which some are no value, nothing lies, and a cubic would go beyond the ends of a scale of numbers.
[[nodiscard]] ScanInterpolation interpolation_of(ScanInterpolation wanted, const OutputDescription& image);

/// `settings` on the scale of images.
[[nodiscard]] Compression compression_of(const Compression& settings, const ValueScale& scale);
/// States that pixels may have no value, in all envelopes and display images and in how they are compressed.
void mask_images(Recipe& recipe);

}  // namespace echoform
