#include "formats/dicom_picture.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/anatomical_axes.hpp"
#include "base/errors.hpp"
#include "formats/envelope_view.hpp"
#include "formats/figure.hpp"
#include "formats/figure_panel.hpp"
#include "formats/shown_axes.hpp"

namespace echoform::formats {
namespace {

/// The axis of `pixels` pixels from the outer edge of the first to the outer edge of the last.
PictureAxis between_edges(double first, double last, std::size_t pixels, const Meaning& meaning) {
  const double step = (last - first) / static_cast<double>(pixels);
  return {first + 0.5 * step, step, meaning.unit};
}

PictureAxis of_grid(const Axis& axis, const Grid& grid, const Meaning& meaning) {
  return {axis.first.value, pixel_extent(axis, grid).value, meaning.unit};
}

/// The place of a picture with one region, whose coordinates are those of the grid.
std::optional<PicturePlace> place_of(const ImageFile& image, const PictureRegion& region) {
  const auto places = image.lines ? std::nullopt : pixel_places(image.grid, image.x, image.y, image.z);
  if (!places) return std::nullopt;
  const auto unit = [](const std::array<double, 3>& step) {
    const double length = std::hypot(step[0], step[1], step[2]);
    return std::array{step[0] / length, step[1] / length, step[2] / length};
  };
  const auto of_patient = [](const std::array<double, 3>& part, double factor) {
    return lps(factor * part[0], factor * part[1], factor * part[2]);
  };
  const auto across = unit(places->steps[0]);
  const auto down = unit(places->steps[2]);
  // Offsets from the grid's first pixel to the picture's.
  const double to_left = region.across.first - static_cast<double>(region.left) * region.across.step - image.grid.x.first.value;
  const double to_top = region.down.first - static_cast<double>(region.top) * region.down.step - image.grid.z.first.value;
  std::array<double, 3> first = places->first;
  for (std::size_t k = 0; k < first.size(); ++k) first[k] += to_left * across[k] + to_top * down[k];
  return PicturePlace{of_patient(first, 1e3), of_patient(across, 1.0), of_patient(down, 1.0)};
}

Picture figure_of_plane(const ImageFile& image) {
  Figure figure = draw_figure(image);
  const FigureLayout& at = figure.layout;
  PictureRegion region{at.left,
                       at.top,
                       at.plot_width,
                       at.plot_height,
                       between_edges(at.x_first.value, at.x_last.value, at.plot_width, image.x),
                       between_edges(at.z_first.value, at.z_last.value, at.plot_height, image.z)};
  auto place = place_of(image, region);
  return {at.width, at.height, std::nullopt, true, std::move(figure.rgb), {std::move(region)}, place};
}

Picture figure_of_volume(const ImageFile& image) {
  VolumeFigure figure = draw_volume_figure(image);
  Picture picture{figure.width, figure.height, std::nullopt, true, std::move(figure.rgb), {}, {}};
  for (const PlotArea& plot : figure.plots) {
    picture.regions.push_back({plot.left, plot.top, plot.width, plot.height,
                               between_edges(plot.across_first, plot.across_last, plot.width, plot.across),
                               between_edges(plot.down_first, plot.down_last, plot.height, plot.down)});
  }
  return picture;
}

/// In decibels a byte is a grey level, 255 at 0 dB. On a scale of numbers, and if pixels may have no value, a byte is a level of
/// the scale, in the colours of figures.
PictureValues values_of(const ImageFile& image, const FigureScale& scale) {
  PictureValues values{image.pixels.name, image.pixels.unit};
  if (!scale.of_numbers()) values.unit = "dB";
  if (!scale.of_numbers() && !scale.some_have_none) {
    values.intercept = -scale.dynamic_range_db;
    values.slope = scale.dynamic_range_db / 255.0;
    return values;
  }
  values.first = first_level_of_numbers;
  values.slope = (scale.high() - scale.low()) / levels_of_numbers;
  values.intercept = scale.low() - values.slope * first_level_of_numbers;
  values.colours.assign(1, no_value_colour);
  for (int level = 0; level <= levels_of_numbers; ++level)
    values.colours.push_back(scale.colour_of_level(static_cast<double>(level) / levels_of_numbers));
  return values;
}

Picture image_itself(const ImageFile& image) {
  const Grid& grid = image.grid;
  const FigureScale scale = figure_scale(image);
  const EnvelopeView envelope(image);
  Picture picture{grid.x.count, grid.z.count, values_of(image, scale), false, std::vector<std::uint8_t>(grid.pixels()), {}, {}};
  const int first = picture.values->first;
  for (std::size_t k = 0; k < picture.pixels.size(); ++k) {
    const double level = scale.level(scale.seen(envelope[k]));
    if (std::isnan(level)) continue;
    picture.pixels[k] = static_cast<std::uint8_t>(first + std::lround((255.0 - first) * std::clamp(level, 0.0, 1.0)));
  }
  picture.regions.push_back(
      {0, 0, picture.width, picture.height, of_grid(grid.x, grid, image.x), of_grid(grid.z, grid, image.z)});
  picture.place = place_of(image, picture.regions.front());
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
