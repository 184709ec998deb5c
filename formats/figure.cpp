#include "formats/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "base/anatomical_axes.hpp"
#include "base/errors.hpp"
#include "formats/envelope_view.hpp"
#include "formats/figure_panel.hpp"

namespace echoform {
namespace {

// Sizes in pixels.
constexpr double longer_side = 880.0;
constexpr double height_of_other_units = 620.0;

}  // namespace

double FigureLayout::column_of(Metres x) const {
  return static_cast<double>(left) + (x - x_first) / (x_last - x_first) * static_cast<double>(plot_width);
}
double FigureLayout::row_of(Metres z) const {
  return static_cast<double>(top) + (z - z_first) / (z_last - z_first) * static_cast<double>(plot_height);
}

FigureLayout layout_figure(const Grid& grid, bool one_unit) {
  FigureLayout layout;
  const Metres x_half(0.5 * pixel_extent(grid.x, grid).value);
  const Metres z_half(0.5 * pixel_extent(grid.z, grid).value);
  layout.x_first = grid.x.first - x_half;
  layout.x_last = grid.x.last + x_half;
  layout.z_first = grid.z.first - z_half;
  layout.z_last = grid.z.last + z_half;
  const double x_extent = (layout.x_last - layout.x_first).value;
  const double z_extent = (layout.z_last - layout.z_first).value;
  const double scale = longer_side / std::max(x_extent, z_extent);
  const auto side = [&](double extent, double of_other_units) {
    return static_cast<std::size_t>(
        std::lround(one_unit ? std::max(extent * scale, longer_side / formats::figure_slimmest) : of_other_units));
  };
  layout.plot_width = side(x_extent, longer_side);
  layout.plot_height = side(z_extent, height_of_other_units);
  layout.left = formats::figure_margin_left;
  layout.top = formats::figure_margin_top;
  layout.width = formats::figure_margin_left + layout.plot_width + formats::figure_margin_right;
  layout.height = formats::figure_margin_top + layout.plot_height + formats::figure_margin_bottom;
  return layout;
}

Figure draw_figure(const ImageFile& image) {
  validate(image.grid, "figure");
  const Grid& grid = image.grid;
  if (grid.y.count != 1) {
    throw InputError("figure", fmt::format("a volume of {} planes", grid.y.count), "one plane");
  }
  const formats::EnvelopeView envelope(image);
  if (envelope.size() != grid.pixels())
    throw InputError("figure", fmt::format("an image of {} values", envelope.size()),
                     fmt::format("{} for its grid", grid.pixels()));
  const formats::FigureScale scale = formats::figure_scale(image);

  Figure figure{layout_figure(grid, image.x.unit == image.z.unit), {}};
  const FigureLayout& layout = figure.layout;
  const formats::Panel panel{layout.left, layout.top, formats::panel_axis(grid, grid.x, image.x, layout.plot_width),
                             formats::panel_axis(grid, grid.z, image.z, layout.plot_height)};
  const std::scoped_lock lock(formats::figure_mutex());
  formats::Canvas canvas(layout.width, layout.height);
  const std::size_t columns = grid.x.count;
  formats::paint_panel(canvas, panel, grid.z.count, columns, scale,
                       [&](std::size_t iz, std::size_t ix) { return scale.seen(envelope[iz * columns + ix]); });
  canvas.ink();
  formats::draw_axes(canvas, panel);
  const auto right = static_cast<double>(layout.left + layout.plot_width);
  formats::draw_colour_bar(canvas, right + formats::figure_bar_gap, layout.top, layout.plot_height, layout.width, scale,
                           image.pixels);
  formats::draw_title(canvas, image, layout.width,
                      static_cast<double>(layout.left) + 0.5 * static_cast<double>(layout.plot_width),
                      static_cast<double>(layout.top) - 26.0);
  figure.rgb = canvas.rgb();
  return figure;
}

}  // namespace echoform
