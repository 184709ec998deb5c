// The figure of an image or a volume: axes in mm, a colour bar in decibels or of numbers in their unit, a title.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
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

/// The layout that draw_figure uses for a grid. Both axes have one scale unless the grid is longer than 6:1, or they are in
/// different units, as time and range are: then each fills the figure.
[[nodiscard]] FigureLayout layout_figure(const Grid& grid, bool one_unit = true);

struct Figure {
  FigureLayout layout;
  std::vector<std::uint8_t> rgb;  ///< [height, width, 3]
};

/// Draws the figure of a plane. Throws InputError for volumes, spans that do not fit the grid, or a dynamic range that is not
/// positive.
[[nodiscard]] Figure draw_figure(const ImageFile& image);

/// A part of a volume's figure, as FigureLayout is of a plane's. Places are in the grid's own numbers.
struct PlotArea {
  std::string name;  ///< "C-scan slice", "C-scan projection"; B-scan and D-scan likewise
  std::size_t left = 0;
  std::size_t top = 0;
  std::size_t width = 0;
  std::size_t height = 0;
  double across_first = 0.0;
  double across_last = 0.0;
  double down_first = 0.0;
  double down_last = 0.0;
  Meaning across{"x", "m"};
  Meaning down{"z", "m"};

  [[nodiscard]] double column_of(double place) const;
  [[nodiscard]] double row_of(double place) const;
};

struct VolumeFigure {
  std::size_t width = 0;  ///< pixels
  std::size_t height = 0;
  std::vector<PlotArea> plots;      ///< C-scan [y, x], B-scan [z, x] and D-scan [z, y]: the slices, then the projections
  std::string maximum;              ///< where it is, "x = 1.25 mm, y = ..."; empty if there is none above 0
  std::vector<std::uint8_t> rgb{};  ///< [height, width, 3]
};

/// Draws the figure of a volume: the three slices through its largest finite value, or the largest magnitude where values have a
/// sign, and the three projections of such values, on one scale of colours. Throws InputError as draw_figure.
[[nodiscard]] VolumeFigure draw_volume_figure(const ImageFile& image);

}  // namespace echoform
