// The figure of a volume: slices through its maximum above, maximum projections below.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/anatomical_axes.hpp"
#include "base/errors.hpp"
#include "formats/envelope_view.hpp"
#include "formats/figure.hpp"
#include "formats/figure_panel.hpp"

namespace echoform {
namespace {

using formats::EnvelopeView;
using formats::FigureScale;
using formats::Panel;
using formats::PanelAxis;

// Sizes in pixels.
constexpr double longest_panel = 420.0;
constexpr double shortest_panel = 105.0;       // fits two numbers
constexpr std::size_t narrowest_column = 270;  // fits the title of a panel
constexpr std::size_t first_row = 140;
constexpr std::size_t between_rows = 160;
constexpr double panel_title_font = 20.0;
constexpr double mark_length = 8.0;

struct Place {
  std::size_t x = 0;
  std::size_t y = 0;
  std::size_t z = 0;
};

/// The place of the strongest finite value, the first of equal ones; nothing if no value is above 0.
std::optional<Place> find_maximum(const EnvelopeView& envelope, const FigureScale& scale, const Grid& grid) {
  std::size_t best = 0;
  float most = 0.0F;
  for (std::size_t k = 0; k < envelope.size(); ++k) {
    const float value = scale.strength(scale.seen(envelope[k]));
    if (value > most && std::isfinite(value)) {
      most = value;
      best = k;
    }
  }
  if (!(most > 0.0F)) return std::nullopt;
  return Place{best % grid.x.count, best / grid.x.count % grid.y.count, best / grid.x.count / grid.y.count};
}

/// The strongest values along each axis. Values that are not numbers count only if there are no others.
struct Projections {
  std::vector<float> along_z;  ///< [y, x]
  std::vector<float> along_y;  ///< [z, x]
  std::vector<float> along_x;  ///< [z, y]

  Projections(const EnvelopeView& envelope, const FigureScale& scale, const Grid& grid)
      : along_z(grid.y.count * grid.x.count, nothing),
        along_y(grid.z.count * grid.x.count, nothing),
        along_x(grid.z.count * grid.y.count, nothing) {
    const std::size_t columns = grid.x.count;
    for (std::size_t iz = 0; iz < grid.z.count; ++iz) {
      for (std::size_t iy = 0; iy < grid.y.count; ++iy) {
        const std::size_t row = iz * grid.y.count + iy;
        for (std::size_t ix = 0; ix < columns; ++ix) {
          const float value = scale.seen(envelope[row * columns + ix]);
          raise(along_z[iy * columns + ix], value, scale);
          raise(along_y[iz * columns + ix], value, scale);
          raise(along_x[row], value, scale);
        }
      }
    }
  }

 private:
  static constexpr float nothing = std::numeric_limits<float>::quiet_NaN();
  static void raise(float& most, float value, const FigureScale& scale) {
    if (scale.strength(value) > scale.strength(most) || std::isnan(most)) most = value;
  }
};

/// The sides of the panels. All axes of one unit have the same scale, as long as none becomes too short.
std::array<std::size_t, 3> sides(const ImageFile& image) {
  const Grid& grid = image.grid;
  const std::array<const Axis*, 3> axes{&grid.x, &grid.y, &grid.z};
  const bool one_unit = image.x.unit == image.y.unit && image.x.unit == image.z.unit;
  std::array<double, 3> extents{};
  for (std::size_t k = 0; k < axes.size(); ++k) {
    extents[k] = one_unit ? (axes[k]->last - axes[k]->first + pixel_extent(*axes[k], grid)).value : 1.0;
  }
  const double scale = longest_panel / *std::max_element(extents.begin(), extents.end());
  std::array<std::size_t, 3> pixels{};
  for (std::size_t k = 0; k < axes.size(); ++k) {
    pixels[k] = static_cast<std::size_t>(std::lround(std::max(extents[k] * scale, shortest_panel)));
  }
  return pixels;
}

/// "x = 1.25 mm", to a tenth of a pixel's extent.
std::string place_text(const Grid& grid, const Axis& axis, const Meaning& meaning, std::size_t index) {
  const formats::ShownUnit unit = formats::shown_unit(meaning);
  const double digits_for = 0.1 * pixel_extent(axis, grid).value * unit.to_shown;
  return fmt::format("{} = {}{}{}", meaning.name, formats::number_text(axis.at(index).value * unit.to_shown, digits_for),
                     unit.name.empty() ? "" : " ", unit.name);
}

/// Replaces the minus sign by a hyphen: texts within PNG files are Latin-1.
std::string plain_minus(const std::string& text) {
  constexpr std::string_view minus = "\u2212";
  std::string plain;
  std::size_t from = 0;
  for (auto at = text.find(minus); at != std::string::npos; at = text.find(minus, from)) {
    plain.append(text, from, at - from).push_back('-');
    from = at + minus.size();
  }
  return plain.append(text, from);
}

/// The properties that differ between the three planes.
struct Plane {
  const char* name;
  PanelAxis across;
  Meaning across_meaning;
  PanelAxis down;
  Meaning down_meaning;
  double mark_across;  ///< place of the maximum
  double mark_down;
  std::string slice;   ///< place of the slice, "z = 20.0 mm"
  std::string normal;  ///< the axis of the projection, "z"
};

PlotArea plot_area(const Plane& plane, const Panel& panel, const char* kind) {
  return {fmt::format("{} {}", plane.name, kind),
          panel.left,
          panel.top,
          panel.across.pixels,
          panel.down.pixels,
          panel.across.first,
          panel.across.last,
          panel.down.first,
          panel.down.last,
          plane.across_meaning,
          plane.down_meaning};
}

void draw_surroundings(formats::Canvas& canvas, const Panel& panel, const Plane& plane, const std::string& title, bool marks) {
  canvas.ink();
  formats::draw_axes(canvas, panel);
  const auto left = static_cast<double>(panel.left);
  const auto top = static_cast<double>(panel.top);
  canvas.text(title, panel_title_font, left, top - 16.0, 0.0);
  if (!marks) return;
  const double x = left + panel.across.place(plane.mark_across);
  const double y = top + panel.down.place(plane.mark_down);
  const double right = left + static_cast<double>(panel.across.pixels) + formats::figure_line;
  canvas.stroke(x, top - formats::figure_line - mark_length, x, top - formats::figure_line);
  canvas.stroke(right, y, right + mark_length, y);
}

}  // namespace

double PlotArea::column_of(double place) const {
  return static_cast<double>(left) + (place - across_first) / (across_last - across_first) * static_cast<double>(width);
}
double PlotArea::row_of(double place) const {
  return static_cast<double>(top) + (place - down_first) / (down_last - down_first) * static_cast<double>(height);
}

VolumeFigure draw_volume_figure(const ImageFile& image) {
  validate(image.grid, "figure");
  const Grid& grid = image.grid;
  const EnvelopeView envelope(image);
  if (envelope.size() != grid.pixels())
    throw InputError("figure", fmt::format("an image of {} values", envelope.size()),
                     fmt::format("{} for its grid", grid.pixels()));
  const FigureScale scale = formats::figure_scale(image);
  const auto maximum = find_maximum(envelope, scale, grid);
  const Place at = maximum.value_or(Place{grid.x.count / 2, grid.y.count / 2, grid.z.count / 2});
  const Projections projections(envelope, scale, grid);

  const auto [nx, ny, nz] = sides(image);
  const PanelAxis x = formats::panel_axis(grid, grid.x, image.x, nx);
  // If one looks from the probe into the part, along z, and has x to the right, y points downwards.
  const PanelAxis y = formats::panel_axis(grid, grid.y, image.y, ny);
  const PanelAxis z = formats::panel_axis(grid, grid.z, image.z, nz);
  const double at_x = grid.x.at(at.x).value;
  const double at_y = grid.y.at(at.y).value;
  const double at_z = grid.z.at(at.z).value;
  const std::string x_text = place_text(grid, grid.x, image.x, at.x);
  const std::string y_text = place_text(grid, grid.y, image.y, at.y);
  const std::string z_text = place_text(grid, grid.z, image.z, at.z);
  const std::array planes{Plane{"C-scan", x, image.x, y, image.y, at_x, at_y, z_text, image.z.name},
                          Plane{"B-scan", x, image.x, z, image.z, at_x, at_z, y_text, image.y.name},
                          Plane{"D-scan", y, image.y, z, image.z, at_y, at_z, x_text, image.x.name}};

  const std::size_t row_height = std::max(ny, nz);
  const std::size_t second_row = first_row + row_height + between_rows;
  std::array<Panel, 3> slices;
  std::array<Panel, 3> maxima;
  std::size_t left = formats::figure_margin_left;
  std::size_t right = left;
  for (std::size_t k = 0; k < planes.size(); ++k) {
    slices[k] = {left, first_row, planes[k].across, planes[k].down, 3.0};
    maxima[k] = {left, second_row, planes[k].across, planes[k].down, 3.0};
    right = left + std::max(planes[k].across.pixels, narrowest_column);
    left = right + formats::figure_margin_left;
  }

  VolumeFigure figure;
  figure.width = right + formats::figure_margin_right;
  figure.height = second_row + row_height + formats::figure_margin_bottom;
  const std::scoped_lock lock(formats::figure_mutex());
  formats::Canvas canvas(figure.width, figure.height);

  const std::size_t columns = grid.x.count;
  const std::size_t rows = grid.y.count;
  const std::size_t depths = grid.z.count;
  const auto value = [&](std::size_t iz, std::size_t iy, std::size_t ix) {
    return scale.seen(envelope[(iz * rows + iy) * columns + ix]);
  };
  formats::paint_panel(canvas, slices[0], rows, columns, scale, [&](std::size_t i, std::size_t j) { return value(at.z, i, j); });
  formats::paint_panel(canvas, slices[1], depths, columns, scale,
                       [&](std::size_t i, std::size_t j) { return value(i, at.y, j); });
  formats::paint_panel(canvas, slices[2], depths, rows, scale, [&](std::size_t i, std::size_t j) { return value(i, j, at.x); });
  const auto paint = [&](const Panel& panel, const std::vector<float>& values, std::size_t high, std::size_t wide) {
    formats::paint_panel(canvas, panel, high, wide, scale, [&](std::size_t i, std::size_t j) { return values[i * wide + j]; });
  };
  paint(maxima[0], projections.along_z, rows, columns);
  paint(maxima[1], projections.along_y, depths, columns);
  paint(maxima[2], projections.along_x, depths, rows);

  const std::string_view strongest = scale.kind == ScaleKind::symmetric ? "largest magnitude" : "maximum";
  for (std::size_t k = 0; k < planes.size(); ++k) {
    const Plane& plane = planes[k];
    draw_surroundings(canvas, slices[k], plane, fmt::format("{} at {}", plane.name, plane.slice), maximum.has_value());
    draw_surroundings(canvas, maxima[k], plane, fmt::format("{}, {} over {}", plane.name, strongest, plane.normal),
                      maximum.has_value());
    figure.plots.push_back(plot_area(plane, slices[k], "slice"));
  }
  for (std::size_t k = 0; k < planes.size(); ++k) figure.plots.push_back(plot_area(planes[k], maxima[k], "projection"));

  formats::draw_colour_bar(canvas, static_cast<double>(right) + formats::figure_bar_gap, first_row,
                           second_row + row_height - first_row, figure.width, scale, image.pixels);
  const double centre = 0.5 * static_cast<double>(formats::figure_margin_left + right);
  formats::draw_title(canvas, image, figure.width, centre, 44.0);
  if (maximum) {
    const std::string place = fmt::format("{}, {}, {}", x_text, y_text, z_text);
    canvas.text(fmt::format("{} at {}", strongest, place), formats::figure_tick_font, centre, 82.0, 0.5);
    figure.maximum = plain_minus(place);
  } else {
    canvas.text(fmt::format("no {}: nothing is above 0", strongest), formats::figure_tick_font, centre, 82.0, 0.5);
  }
  figure.rgb = canvas.rgb();
  return figure;
}

}  // namespace echoform
