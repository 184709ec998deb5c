// Outputs of an image and, if requested, of its display image, for every method.
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

/// The levels of a display image: there is no display image, every pixel has a level, or some pixels have none, such as
/// those beyond the image.
enum class ShownLevels : std::uint8_t { none, all, with_gaps };

/// Adds the output `image` of `block` and, if requested, its display image. That is compressed by `settings` on the image's
/// own scale; `convert` makes an output of the compressed block.
void add_shown_image(Recipe& recipe, const OutputDescription& image, std::size_t block, const Compression& settings,
                     ShownLevels levels, const std::function<RecipeOutput(std::size_t compressed)>& convert);

/// How images on a grid of x and z are shown.
struct GridDisplay {
  bool wanted = true;
  Compression compression;
  std::optional<Grid> grid;  ///< where it differs from that of the image
  ScanInterpolation interpolation = ScanInterpolation::bilinear;
  double cubic_alpha = -0.5;
};
/// add_shown_image() of an image on such a grid.
void add_grid_image(Recipe& recipe, const OutputDescription& image, std::size_t block, const GridDisplay& display);

/// The display image of `image` on `grid`, whose axes are x, y and z.
[[nodiscard]] OutputDescription display_of(const OutputDescription& image, const Grid& grid);
/// How levels of `image` are looked up between pixels: `wanted`, as far as the scale of the image allows it. Nothing lies
/// between numbers that wrap round, or where some pixels have no value, and a cubic would go beyond the ends of a scale of
/// numbers.
[[nodiscard]] ScanInterpolation interpolation_of(ScanInterpolation wanted, const OutputDescription& image);

/// `settings` on the scale of images.
[[nodiscard]] Compression compression_of(const Compression& settings, const ValueScale& scale);
/// States that pixels may have no value, in all envelopes and display images and in how they are compressed.
void mask_images(Recipe& recipe);

}  // namespace echoform
