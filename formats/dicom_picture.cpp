#include "formats/dicom_picture.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/errors.hpp"
#include "formats/envelope_view.hpp"
#include "formats/figure.hpp"
#include "formats/figure_panel.hpp"
#include "formats/shown_axes.hpp"

namespace echoform::formats {
namespace {

/// Of an axis from one edge of `pixels` to the other.
PictureAxis between_edges(double first, double last, std::size_t pixels, const Meaning& meaning) {
  const double step = (last - first) / static_cast<double>(pixels);
  return {first + 0.5 * step, step, meaning.unit};
}

PictureAxis of_grid(const Axis& axis, const Grid& grid, const Meaning& meaning) {
  return {axis.first.value, pixel_extent(axis, grid).value, meaning.unit};
}

Picture figure_of_plane(const ImageFile& image) {
  Figure figure = draw_figure(image);
  const FigureLayout& at = figure.layout;
  return {
      at.width,
      at.height,
      false,
      true,
      std::move(figure.rgb),
      {{at.left, at.top, at.plot_width, at.plot_height, between_edges(at.x_first.value, at.x_last.value, at.plot_width, image.x),
        between_edges(at.z_first.value, at.z_last.value, at.plot_height, image.z)}}};
}

Picture figure_of_volume(const ImageFile& image) {
  VolumeFigure figure = draw_volume_figure(image);
  Picture picture{figure.width, figure.height, false, true, std::move(figure.rgb), {}};
  for (const PlotArea& plot : figure.plots) {
    picture.regions.push_back({plot.left, plot.top, plot.width, plot.height,
                               between_edges(plot.across_first, plot.across_last, plot.width, plot.across),
                               between_edges(plot.down_first, plot.down_last, plot.height, plot.down)});
  }
  return picture;
}

Picture image_itself(const ImageFile& image) {
  const Grid& grid = image.grid;
  const LevelScale scale = level_scale(image);
  const EnvelopeView envelope(image);
  Picture picture{grid.x.count, grid.z.count, true, false, std::vector<std::uint8_t>(grid.pixels()), {}};
  for (std::size_t k = 0; k < picture.pixels.size(); ++k) {
    const double level = scale.level(envelope.magnitude(k));
    picture.pixels[k] = level > 0.0 ? static_cast<std::uint8_t>(std::lround(255.0 * std::min(level, 1.0))) : std::uint8_t{0};
  }
  picture.regions.push_back(
      {0, 0, picture.width, picture.height, of_grid(grid.x, grid, image.x), of_grid(grid.z, grid, image.z)});
  return picture;
}

}  // namespace

std::optional<std::pair<double, double>> Picture::spacing() const {
  constexpr double same = 1e-9;  // relative
  const PictureRegion& first = regions.front();
  for (const PictureRegion& region : regions) {
    for (const PictureAxis* const axis : {&region.across, &region.down}) {
      if (axis->unit != "m" || !(axis->step > 0.0)) return std::nullopt;
    }
    if (std::abs(region.across.step - first.across.step) > same * first.across.step ||
        std::abs(region.down.step - first.down.step) > same * first.down.step) {
      return std::nullopt;
    }
  }
  return std::pair(first.down.step, first.across.step);
}

Picture dicom_picture(const ImageFile& image, const std::string& where) {
  const bool figure = image.archive == nullptr || image.archive->figure;
  if (image.grid.y.count > 1) {
    if (figure) return figure_of_volume(image);
    throw InputError(where, "a volume", "a plane, or its figure ([dicom] picture = \"figure\")");
  }
  return figure ? figure_of_plane(image) : image_itself(image);
}

}  // namespace echoform::formats
