#include "formats/figure.hpp"

#include <cairo.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <mutex>
#include <string>

#include "base/errors.hpp"
#include "formats/colour_map.hpp"
#include "formats/figure_font.hpp"

namespace echoform {
namespace {

// Sizes in pixels.
constexpr double longer_side = 880.0;
constexpr double slimmest = 6.0;  // sides of the plot area differ at most by this factor
constexpr std::size_t margin_left = 112;
constexpr std::size_t margin_right = 176;
constexpr std::size_t margin_top = 76;
constexpr std::size_t margin_bottom = 100;
constexpr double bar_gap = 32.0;
constexpr double bar_width = 26.0;
constexpr double tick_length = 8.0;
constexpr double tick_font = 22.0;
constexpr double label_font = 24.0;
constexpr double title_font = 25.0;
constexpr double line = 1.5;

struct ContextFree {
  void operator()(cairo_t* context) const { cairo_destroy(context); }
};
struct SurfaceFree {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};

double half_pixel(const Axis& axis, const Axis& other) {
  if (axis.count > 1) return 0.5 * axis.spacing().value;
  return other.count > 1 ? 0.5 * other.spacing().value : 0.5e-3;
}

/// How one axis of the image is sampled at the pixels of the plot: between two pixels of the grid, or over several, of which
/// the strongest shows (a small reflector must not fall between).
struct Sampling {
  bool shrinks = false;
  struct Piece {
    std::size_t first = 0;
    std::size_t last = 0;
    float fraction = 0.0F;
  };
  std::vector<Piece> pieces;

  Sampling(std::size_t grid_pixels, std::size_t plot_pixels) : shrinks(grid_pixels > plot_pixels), pieces(plot_pixels) {
    const double scale = static_cast<double>(grid_pixels) / static_cast<double>(plot_pixels);
    for (std::size_t k = 0; k < plot_pixels; ++k) {
      if (shrinks) {
        pieces[k].first = static_cast<std::size_t>(static_cast<double>(k) * scale);
        pieces[k].last = std::clamp(static_cast<std::size_t>(std::ceil(static_cast<double>(k + 1) * scale)) - 1, pieces[k].first,
                                    grid_pixels - 1);
      } else {
        const double place = std::clamp((static_cast<double>(k) + 0.5) * scale - 0.5, 0.0, static_cast<double>(grid_pixels - 1));
        pieces[k].first = static_cast<std::size_t>(place);
        pieces[k].last = std::min(pieces[k].first + 1, grid_pixels - 1);
        pieces[k].fraction = static_cast<float>(place - std::floor(place));
      }
    }
  }

  template <class At>
  float value(std::size_t k, const At& at) const {
    const Piece& piece = pieces[k];
    if (!shrinks) return at(piece.first) + piece.fraction * (at(piece.last) - at(piece.first));
    float most = at(piece.first);
    for (std::size_t i = piece.first + 1; i <= piece.last; ++i) most = std::max(most, at(i));
    return most;
  }
};

/// 1, 2 or 5 times a power of ten, so that at most `most` steps lie in `extent`.
double nice_step(double extent, double most) {
  const double raw = extent / most;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw * (1.0 - 1e-9)) return factor * power;
  }
  return 10.0 * power;
}

std::string number_text(double value, double step) {
  const int digits = std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9)));
  std::string text = fmt::format("{:.{}f}", std::abs(value) < 1e-9 * step ? 0.0 : value, digits);
  if (text.front() == '-') text.replace(0, 1, "\u2212");
  return text;
}

std::vector<double> ticks(double first, double last, double step) {
  std::vector<double> values;
  for (double k = std::ceil(first / step - 1e-9); k * step <= last + 1e-9 * step; k += 1.0) values.push_back(k * step);
  return values;
}

class Canvas {
 public:
  Canvas(std::size_t width, std::size_t height)
      : surface_(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(width), static_cast<int>(height))),
        context_(cairo_create(surface_.get())) {
    if (cairo_status(context_.get()) != CAIRO_STATUS_SUCCESS) throw RuntimeFault("figure: no memory for its pixels");
    cairo_set_source_rgb(context(), 1.0, 1.0, 1.0);
    cairo_paint(context());
    formats::use_figure_font(context());
    ink();
  }

  [[nodiscard]] cairo_t* context() const { return context_.get(); }

  void ink() const { cairo_set_source_rgb(context(), 0.13, 0.13, 0.13); }

  void stroke(double x0, double y0, double x1, double y1) const {
    cairo_set_line_width(context(), line);
    cairo_move_to(context(), x0, y0);
    cairo_line_to(context(), x1, y1);
    cairo_stroke(context());
  }
  void frame(double x, double y, double width, double height) const {
    // Outside of the picture, so that none of it is covered.
    cairo_set_line_width(context(), line);
    cairo_rectangle(context(), x - 0.5 * line, y - 0.5 * line, width + line, height + line);
    cairo_stroke(context());
  }

  [[nodiscard]] double width_of(const std::string& text, double size) const {
    cairo_set_font_size(context(), size);
    cairo_text_extents_t extents;
    cairo_text_extents(context(), text.c_str(), &extents);
    return extents.x_advance;
  }
  /// `across` 0: starts at x, 0.5: centred, 1: ends there; y is the base line.
  void text(const std::string& text, double size, double x, double y, double across) const {
    const double width = width_of(text, size);
    cairo_move_to(context(), std::round(x - across * width), std::round(y));
    cairo_show_text(context(), text.c_str());
    cairo_new_path(context());
  }
  /// Centred on (x, y), reading upwards.
  void upward_text(const std::string& label, double size, double x, double y) const {
    cairo_save(context());
    cairo_translate(context(), x, y);
    cairo_rotate(context(), -1.5707963267948966);
    text(label, size, 0.0, 0.0, 0.5);
    cairo_restore(context());
  }

  void pixel(std::size_t column, std::size_t row, Rgb colour) {
    unsigned char* at = data_ + row * stride_ + 4 * column;
    at[0] = colour[2];
    at[1] = colour[1];
    at[2] = colour[0];
  }
  void start_pixels() {
    cairo_surface_flush(surface_.get());
    data_ = cairo_image_surface_get_data(surface_.get());
    stride_ = static_cast<std::size_t>(cairo_image_surface_get_stride(surface_.get()));
  }
  void end_pixels() const { cairo_surface_mark_dirty(surface_.get()); }
  [[nodiscard]] Rgb pixel(std::size_t column, std::size_t row) const {
    const unsigned char* at = data_ + row * stride_ + 4 * column;
    return {at[2], at[1], at[0]};
  }

 private:
  std::unique_ptr<cairo_surface_t, SurfaceFree> surface_;
  std::unique_ptr<cairo_t, ContextFree> context_;
  unsigned char* data_ = nullptr;
  std::size_t stride_ = 0;
};

void paint_image(Canvas& canvas, const FigureLayout& layout, const ImageFile& image, std::span<const float> envelope) {
  double reference = image.reference.value_or(0.0);
  if (!image.reference) {
    for (const float value : envelope) {
      if (std::isfinite(value)) reference = std::max(reference, static_cast<double>(value));
    }
  }
  const Sampling columns(image.grid.x.count, layout.plot_width);
  const Sampling rows(image.grid.z.count, layout.plot_height);
  const std::size_t stride = image.grid.x.count;
  canvas.start_pixels();
  for (std::size_t row = 0; row < layout.plot_height; ++row) {
    for (std::size_t column = 0; column < layout.plot_width; ++column) {
      const float value = rows.value(
          row, [&](std::size_t iz) { return columns.value(column, [&](std::size_t ix) { return envelope[iz * stride + ix]; }); });
      // An image of zeros has no peak and is all background.
      const double level = reference > 0.0 ? 20.0 * std::log10(static_cast<double>(value) / reference) + image.gain_db : -1e300;
      canvas.pixel(layout.left + column, layout.top + row, sequential_colour(1.0 + level / image.dynamic_range_db));
    }
  }
  canvas.end_pixels();
}

void draw_axes(const Canvas& canvas, const FigureLayout& layout) {
  const auto left = static_cast<double>(layout.left);
  const auto top = static_cast<double>(layout.top);
  const auto width = static_cast<double>(layout.plot_width);
  const auto height = static_cast<double>(layout.plot_height);
  canvas.frame(left, top, width, height);

  const double x_first = layout.x_first.value * 1e3;
  const double x_last = layout.x_last.value * 1e3;
  const double x_step = nice_step(x_last - x_first, std::clamp(width / 85.0, 2.0, 10.0));
  for (const double value : ticks(x_first, x_last, x_step)) {
    const double x = layout.column_of(Metres(value * 1e-3));
    canvas.stroke(x, top + height + line, x, top + height + line + tick_length);
    canvas.text(number_text(value, x_step), tick_font, x, top + height + tick_length + 26.0, 0.5);
  }
  canvas.text("x (mm)", label_font, left + 0.5 * width, top + height + tick_length + 64.0, 0.5);

  const double z_first = layout.z_first.value * 1e3;
  const double z_last = layout.z_last.value * 1e3;
  const double z_step = nice_step(z_last - z_first, std::clamp(height / 70.0, 2.0, 10.0));
  double widest = 0.0;
  for (const double value : ticks(z_first, z_last, z_step)) {
    const double y = layout.row_of(Metres(value * 1e-3));
    canvas.stroke(left - line - tick_length, y, left - line, y);
    const std::string label = number_text(value, z_step);
    widest = std::max(widest, canvas.width_of(label, tick_font));
    canvas.text(label, tick_font, left - tick_length - 8.0, y + 8.0, 1.0);
  }
  canvas.upward_text("z (mm)", label_font, std::max(26.0, left - tick_length - 24.0 - widest), top + 0.5 * height);
}

void draw_colour_bar(Canvas& canvas, const FigureLayout& layout, double dynamic_range) {
  const double x = static_cast<double>(layout.left + layout.plot_width) + bar_gap;
  const auto top = static_cast<double>(layout.top);
  const auto height = static_cast<double>(layout.plot_height);
  canvas.start_pixels();
  for (std::size_t row = 0; row < layout.plot_height; ++row) {
    const Rgb colour = sequential_colour(1.0 - (static_cast<double>(row) + 0.5) / height);
    for (std::size_t column = 0; column < static_cast<std::size_t>(bar_width); ++column) {
      canvas.pixel(static_cast<std::size_t>(x) + column, layout.top + row, colour);
    }
  }
  canvas.end_pixels();
  canvas.frame(x, top, bar_width, height);
  const double step = nice_step(dynamic_range, std::clamp(height / 70.0, 1.0, 8.0));
  for (const double value : ticks(-dynamic_range, 0.0, step)) {
    const double y = top - value / dynamic_range * height;
    canvas.stroke(x + bar_width + line, y, x + bar_width + line + tick_length, y);
    canvas.text(number_text(value, step), tick_font, x + bar_width + tick_length + 8.0, y + 8.0, 0.0);
  }
  canvas.upward_text("amplitude (dB)", label_font, static_cast<double>(layout.width) - 18.0, top + 0.5 * height);
}

void draw_title(const Canvas& canvas, const FigureLayout& layout, const ImageFile& image) {
  std::string title = image.title;
  std::string view;
  if (!image.view.empty()) view = (title.empty() ? "view " : "  \u00b7  ") + image.view;
  if (title.empty() && view.empty()) return;
  // A long title shrinks, then loses its end; the view stays, which tells the figures of one frame apart.
  const double room = static_cast<double>(layout.width) - 40.0;
  const double size = std::clamp(title_font * room / std::max(canvas.width_of(title + view, title_font), 1.0), 15.0, title_font);
  if (canvas.width_of(title + view, size) > room) {
    while (!title.empty() && canvas.width_of(title + "\u2026" + view, size) > room) {
      while (!title.empty() && (static_cast<unsigned char>(title.back()) & 0xc0u) == 0x80u) title.pop_back();
      if (!title.empty()) title.pop_back();
    }
    title += "\u2026";
  }
  title += view;
  const double half = 0.5 * canvas.width_of(title, size);
  const double centre = static_cast<double>(layout.left) + 0.5 * static_cast<double>(layout.plot_width);
  canvas.text(title, size, std::clamp(centre, 20.0 + half, std::max(20.0 + half, 20.0 + room - half)),
              static_cast<double>(layout.top) - 26.0, 0.5);
}

}  // namespace

double FigureLayout::column_of(Metres x) const {
  return static_cast<double>(left) + (x - x_first) / (x_last - x_first) * static_cast<double>(plot_width);
}
double FigureLayout::row_of(Metres z) const {
  return static_cast<double>(top) + (z - z_first) / (z_last - z_first) * static_cast<double>(plot_height);
}

FigureLayout layout_figure(const Grid& grid) {
  FigureLayout layout;
  const Metres x_half(half_pixel(grid.x, grid.z));
  const Metres z_half(half_pixel(grid.z, grid.x));
  layout.x_first = grid.x.first - x_half;
  layout.x_last = grid.x.last + x_half;
  layout.z_first = grid.z.first - z_half;
  layout.z_last = grid.z.last + z_half;
  const double x_extent = (layout.x_last - layout.x_first).value;
  const double z_extent = (layout.z_last - layout.z_first).value;
  const double scale = longer_side / std::max(x_extent, z_extent);
  layout.plot_width = static_cast<std::size_t>(std::lround(std::max(x_extent * scale, longer_side / slimmest)));
  layout.plot_height = static_cast<std::size_t>(std::lround(std::max(z_extent * scale, longer_side / slimmest)));
  layout.left = margin_left;
  layout.top = margin_top;
  layout.width = margin_left + layout.plot_width + margin_right;
  layout.height = margin_top + layout.plot_height + margin_bottom;
  return layout;
}

Figure draw_figure(const ImageFile& image) {
  validate(image.grid, "figure");
  if (image.grid.y.count != 1)
    throw InputError("figure", fmt::format("a volume of {} planes", image.grid.y.count), "one plane (.npy and .h5 hold volumes)");
  if (!(image.dynamic_range_db > 0.0) || !std::isfinite(image.dynamic_range_db) || !std::isfinite(image.gain_db)) {
    throw InputError("figure", fmt::format("a dynamic range of {} dB and a gain of {} dB", image.dynamic_range_db, image.gain_db),
                     "a positive range and a finite gain");
  }
  std::vector<float> computed;
  std::span<const float> envelope = image.envelope;
  if (envelope.empty()) {
    computed.resize(image.analytic.size());
    std::transform(image.analytic.begin(), image.analytic.end(), computed.begin(),
                   [](std::complex<float> value) { return std::abs(value); });
    envelope = computed;
  }
  if (envelope.size() != image.grid.pixels())
    throw InputError("figure", fmt::format("an image of {} values", envelope.size()),
                     fmt::format("{} for its grid", image.grid.pixels()));

  // Cairo's FreeType fonts are shared by all contexts.
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  Figure figure{layout_figure(image.grid), {}};
  const FigureLayout& layout = figure.layout;
  Canvas canvas(layout.width, layout.height);
  paint_image(canvas, layout, image, envelope);
  canvas.ink();
  draw_axes(canvas, layout);
  draw_colour_bar(canvas, layout, image.dynamic_range_db);
  draw_title(canvas, layout, image);

  figure.rgb.resize(layout.width * layout.height * 3);
  canvas.start_pixels();
  for (std::size_t row = 0; row < layout.height; ++row) {
    for (std::size_t column = 0; column < layout.width; ++column) {
      const Rgb colour = canvas.pixel(column, row);
      std::copy(colour.begin(), colour.end(),
                figure.rgb.begin() + static_cast<std::ptrdiff_t>(3 * (row * layout.width + column)));
    }
  }
  return figure;
}

}  // namespace echoform
