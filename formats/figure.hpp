// The figure of an image: axes in mm, a dB colour bar, a title.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/image_writer.hpp"

namespace echoform {

/// Where a figure's image lies. Pixel (0, 0) is the upper left corner; pixel edges are whole numbers.
struct FigureLayout {
  std::size_t width = 0;  ///< of the whole figure, pixels
  std::size_t height = 0;
  std::size_t left = 0;  ///< the plot area
  std::size_t top = 0;
  std::size_t plot_width = 0;
  std::size_t plot_height = 0;
  Metres x_first, x_last;  ///< left and right edges of the plot area: half a pixel of the grid beyond its outer centres
  Metres z_first, z_last;  ///< upper and lower edges

  /// Column and row (fractions of a pixel) of a place in the part.
  [[nodiscard]] double column_of(Metres x) const;
  [[nodiscard]] double row_of(Metres z) const;
};

/// The layout that draw_figure uses for a grid. Both axes have one scale unless the grid is longer than 6:1.
[[nodiscard]] FigureLayout layout_figure(const Grid& grid);

struct Figure {
  FigureLayout layout;
  std::vector<std::uint8_t> rgb;  ///< [height, width, 3]
};

/// Draws the figure. Throws InputError for volumes, spans that do not fit the grid, or a dynamic range that is not positive.
[[nodiscard]] Figure draw_figure(const ImageFile& image);

}  // namespace echoform
