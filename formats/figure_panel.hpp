// What figures are drawn with: a canvas of pixels, panels with axes, a colour bar.
#pragma once

#include <cairo.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/value_scale.hpp"
#include "formats/colour_map.hpp"
#include "formats/image_writer.hpp"
#include "formats/shown_axes.hpp"

namespace echoform::formats {

// Sizes in pixels.
constexpr double figure_slimmest = 6.0;  // sides of a plot area differ at most by this factor
constexpr double figure_tick_length = 8.0;
constexpr double figure_tick_font = 22.0;
constexpr double figure_label_font = 24.0;
constexpr double figure_title_font = 25.0;
constexpr double figure_line = 1.5;
constexpr double figure_bar_gap = 32.0;
constexpr std::size_t figure_margin_left = 112;
constexpr std::size_t figure_margin_right = 176;
constexpr std::size_t figure_margin_top = 76;
constexpr std::size_t figure_margin_bottom = 100;

/// A white picture to draw on, in ink. One thread draws at a time: see figure_mutex.
class Canvas {
 public:
  /// Throws RuntimeFault if there is no memory for its pixels.
  Canvas(std::size_t width, std::size_t height);

  void ink() const;
  void stroke(double x0, double y0, double x1, double y1) const;
  /// Around this rectangle, covering none of it.
  void frame(double x, double y, double width, double height) const;

  [[nodiscard]] double width_of(const std::string& text, double size) const;
  /// `across` 0: starts at x, 0.5: centred, 1: ends there; y is the base line.
  void text(const std::string& text, double size, double x, double y, double across) const;
  /// Centred on (x, y), reading upwards.
  void upward_text(const std::string& label, double size, double x, double y) const;

  /// Pixels are set one by one, between start_pixels() and end_pixels().
  void start_pixels();
  void pixel(std::size_t column, std::size_t row, Rgb colour);
  void end_pixels() const;
  /// All pixels as they are now: [height, width, 3].
  [[nodiscard]] std::vector<std::uint8_t> rgb();

 private:
  struct ContextFree {
    void operator()(cairo_t* context) const { cairo_destroy(context); }
  };
  struct SurfaceFree {
    void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  };
  [[nodiscard]] cairo_t* context() const { return context_.get(); }

  std::size_t width_;
  std::size_t height_;
  std::unique_ptr<cairo_surface_t, SurfaceFree> surface_;
  std::unique_ptr<cairo_t, ContextFree> context_;
  unsigned char* data_ = nullptr;
  std::size_t stride_ = 0;
};

/// Held while a canvas is used: Cairo's FreeType fonts are shared by all contexts.
[[nodiscard]] std::mutex& figure_mutex();

/// How the values of an image become colours: the same in all panels of a figure.
struct FigureScale {
  ScaleKind kind = ScaleKind::decibels;
  double reference = 0.0;  ///< shown as 0 dB; 0: all is background
  double gain_db = 0.0;
  double dynamic_range_db = 40.0;
  double end = 1.0;             ///< of a scale of numbers
  bool interpolates = true;     ///< whether something lies between two pixels
  bool some_have_none = false;  ///< whether pixels without a value are to be expected

  [[nodiscard]] bool of_numbers() const { return shows_numbers(kind); }
  [[nodiscard]] double low() const { return of_numbers() ? lower_end(kind, end) : -dynamic_range_db; }
  [[nodiscard]] double high() const { return of_numbers() ? end : 0.0; }
  /// What is looked at of a value: in decibels its magnitude.
  [[nodiscard]] float seen(float value) const { return of_numbers() ? value : std::abs(value); }
  /// The measure of prominence: the most prominent of several values has the largest.
  [[nodiscard]] float strength(float value) const { return kind == ScaleKind::symmetric ? std::abs(value) : value; }
  /// 1 at the upper end, 0 at the lower one; beyond both without limits.
  [[nodiscard]] double level(float value) const;
  [[nodiscard]] Rgb colour(float value) const { return colour_of_level(level(value)); }
  [[nodiscard]] Rgb colour_of_level(double level) const;
};
/// The image's scale; its reference, or the end of a scale of numbers, is that of the largest finite value where it states none.
/// Throws InputError if the range is not positive.
[[nodiscard]] FigureScale figure_scale(const ImageFile& image);

/// How one axis of the image is sampled at the pixels of the plot: between two pixels of the grid, at the nearest one, or over
/// several, of which the strongest shows (a small reflector must not fall between).
struct Sampling {
  bool shrinks = false;
  struct Piece {
    std::size_t first = 0;
    std::size_t last = 0;
    float fraction = 0.0F;
  };
  std::vector<Piece> pieces;

  Sampling(std::size_t grid_pixels, std::size_t plot_pixels, const FigureScale& scale)
      : shrinks(grid_pixels > plot_pixels), pieces(plot_pixels) {
    const double ratio = static_cast<double>(grid_pixels) / static_cast<double>(plot_pixels);
    for (std::size_t k = 0; k < plot_pixels; ++k) {
      if (shrinks) {
        pieces[k].first = static_cast<std::size_t>(static_cast<double>(k) * ratio);
        pieces[k].last = std::clamp(static_cast<std::size_t>(std::ceil(static_cast<double>(k + 1) * ratio)) - 1, pieces[k].first,
                                    grid_pixels - 1);
      } else {
        const double place = std::clamp((static_cast<double>(k) + 0.5) * ratio - 0.5, 0.0, static_cast<double>(grid_pixels - 1));
        pieces[k].first = static_cast<std::size_t>(scale.interpolates ? place : std::round(place));
        pieces[k].last = std::min(pieces[k].first + 1, grid_pixels - 1);
        pieces[k].fraction = scale.interpolates ? static_cast<float>(place - std::floor(place)) : 0.0F;
      }
    }
  }

  template <class At>
  float value(std::size_t k, const FigureScale& scale, const At& at) const {
    const Piece& piece = pieces[k];
    if (!shrinks && piece.fraction == 0.0F) return at(piece.first);
    if (!shrinks) return at(piece.first) + piece.fraction * (at(piece.last) - at(piece.first));
    float most = at(piece.first);
    for (std::size_t i = piece.first + 1; i <= piece.last; ++i) {
      const float next = at(i);
      if (std::isnan(most) || scale.strength(next) > scale.strength(most)) most = next;
    }
    return most;
  }
};

/// One axis of a panel: edges of the plot area, in the grid's numbers, half a pixel of the grid beyond its outer centres.
struct PanelAxis {
  double first = 0.0;
  double last = 0.0;
  std::size_t pixels = 1;  ///< of the figure
  ShownUnit unit;
  std::string label;  ///< "x (mm)"

  /// Pixels of the figure from `first` on to the place `value`.
  [[nodiscard]] double place(double value) const { return (value - first) / (last - first) * static_cast<double>(pixels); }
};
/// The axis of the grid with the meaning that the image gives it, on so many pixels.
[[nodiscard]] PanelAxis panel_axis(const Grid& grid, const Axis& axis, const Meaning& meaning, std::size_t pixels);

/// A plot area with `across` to the right and `down` downwards.
struct Panel {
  std::size_t left = 0;
  std::size_t top = 0;
  PanelAxis across;
  PanelAxis down;
  double fewest_steps = 2.0;  ///< between numbers along a short axis, about
};

/// Paints values [rows, columns] that `at` gives by row and column.
template <class At>
void paint_panel(Canvas& canvas, const Panel& panel, std::size_t rows, std::size_t columns, const FigureScale& scale,
                 const At& at) {
  const Sampling across(columns, panel.across.pixels, scale);
  const Sampling down(rows, panel.down.pixels, scale);
  canvas.start_pixels();
  for (std::size_t row = 0; row < panel.down.pixels; ++row) {
    for (std::size_t column = 0; column < panel.across.pixels; ++column) {
      const float value = down.value(
          row, scale, [&](std::size_t i) { return across.value(column, scale, [&](std::size_t j) { return at(i, j); }); });
      canvas.pixel(panel.left + column, panel.top + row, scale.colour(value));
    }
  }
  canvas.end_pixels();
}

/// Frame, ticks and labels.
void draw_axes(const Canvas& canvas, const Panel& panel);
/// A bar of colours, its ticks, what they are of and in which unit at the figure's right edge, which is at `right`, and below the
/// colour of what has no value, where that is to be expected.
void draw_colour_bar(Canvas& canvas, double left, std::size_t top, std::size_t height, std::size_t right,
                     const FigureScale& scale, const Meaning& pixels);
/// The image's title and view, centred on `centre` as far as a figure of this width has space, on the base line `y`.
void draw_title(const Canvas& canvas, const ImageFile& image, std::size_t width, double centre, double y);

/// `value` with the digits that a step of such a size needs, and a real minus sign.
[[nodiscard]] std::string number_text(double value, double step);

}  // namespace echoform::formats
