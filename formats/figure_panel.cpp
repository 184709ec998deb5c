#include "formats/figure_panel.hpp"

#include <fmt/format.h>

#include "base/anatomical_axes.hpp"
#include "base/errors.hpp"
#include "formats/envelope_view.hpp"
#include "formats/figure_font.hpp"

namespace echoform::formats {
namespace {

constexpr double bar_width = 26.0;
constexpr std::size_t legend_gap = 36;

/// The smallest step of 1, 2 or 5 times a power of ten of which at most `most` lie in `extent`.
double nice_step(double extent, double most) {
  const double raw = extent / most;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw * (1.0 - 1e-9)) return factor * power;
  }
  return 10.0 * power;
}

std::vector<double> ticks(double first, double last, double step) {
  std::vector<double> values;
  for (double k = std::ceil(first / step - 1e-9); k * step <= last + 1e-9 * step; k += 1.0) values.push_back(k * step);
  return values;
}

}  // namespace

Canvas::Canvas(std::size_t width, std::size_t height)
    : width_(width),
      height_(height),
      surface_(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(width), static_cast<int>(height))),
      context_(cairo_create(surface_.get())) {
  if (cairo_status(context_.get()) != CAIRO_STATUS_SUCCESS) throw RuntimeFault("figure: no memory for its pixels");
  cairo_set_source_rgb(context(), 1.0, 1.0, 1.0);
  cairo_paint(context());
  use_figure_font(context());
  ink();
}

void Canvas::ink() const {
  cairo_set_source_rgb(context(), 0.13, 0.13, 0.13);
}

void Canvas::stroke(double x0, double y0, double x1, double y1) const {
  cairo_set_line_width(context(), figure_line);
  cairo_move_to(context(), x0, y0);
  cairo_line_to(context(), x1, y1);
  cairo_stroke(context());
}

void Canvas::frame(double x, double y, double width, double height) const {
  cairo_set_line_width(context(), figure_line);
  cairo_rectangle(context(), x - 0.5 * figure_line, y - 0.5 * figure_line, width + figure_line, height + figure_line);
  cairo_stroke(context());
}

double Canvas::width_of(const std::string& text, double size) const {
  cairo_set_font_size(context(), size);
  cairo_text_extents_t extents;
  cairo_text_extents(context(), text.c_str(), &extents);
  return extents.x_advance;
}

void Canvas::text(const std::string& text, double size, double x, double y, double across) const {
  const double width = width_of(text, size);
  cairo_move_to(context(), std::round(x - across * width), std::round(y));
  cairo_show_text(context(), text.c_str());
  cairo_new_path(context());
}

void Canvas::upward_text(const std::string& label, double size, double x, double y) const {
  cairo_save(context());
  cairo_translate(context(), x, y);
  cairo_rotate(context(), -1.5707963267948966);
  text(label, size, 0.0, 0.0, 0.5);
  cairo_restore(context());
}

void Canvas::start_pixels() {
  cairo_surface_flush(surface_.get());
  data_ = cairo_image_surface_get_data(surface_.get());
  stride_ = static_cast<std::size_t>(cairo_image_surface_get_stride(surface_.get()));
}

void Canvas::pixel(std::size_t column, std::size_t row, Rgb colour) {
  unsigned char* at = data_ + row * stride_ + 4 * column;
  at[0] = colour[2];
  at[1] = colour[1];
  at[2] = colour[0];
}

void Canvas::end_pixels() const {
  cairo_surface_mark_dirty(surface_.get());
}

std::vector<std::uint8_t> Canvas::rgb() {
  start_pixels();
  std::vector<std::uint8_t> pixels(width_ * height_ * 3);
  auto to = pixels.begin();
  for (std::size_t row = 0; row < height_; ++row) {
    for (std::size_t column = 0; column < width_; ++column) {
      const unsigned char* at = data_ + row * stride_ + 4 * column;
      for (const int channel : {2, 1, 0}) *to++ = at[channel];
    }
  }
  return pixels;
}

std::mutex& figure_mutex() {
  static std::mutex mutex;
  return mutex;
}

double FigureScale::level(float value) const {
  if (of_numbers()) return (static_cast<double>(value) - low()) / (high() - low());
  // An image of zeros has no peak: all of it is background.
  const double decibels =
      reference > 0.0 ? decibels_a_decade(kind) * std::log10(static_cast<double>(value) / reference) + gain_db : -1e300;
  return 1.0 + decibels / dynamic_range_db;
}

Rgb FigureScale::colour_of_level(double level) const {
  return kind == ScaleKind::symmetric ? diverging_colour(2.0 * level - 1.0) : sequential_colour(level);
}

FigureScale figure_scale(const ImageFile& image) {
  if (!(image.dynamic_range_db > 0.0) || !std::isfinite(image.dynamic_range_db) || !std::isfinite(image.gain_db)) {
    throw InputError("figure", fmt::format("a dynamic range of {} dB and a gain of {} dB", image.dynamic_range_db, image.gain_db),
                     "a positive range and a finite gain");
  }
  FigureScale scale{image.scale.kind, image.reference.value_or(0.0), image.gain_db, image.dynamic_range_db};
  double peak = 0.0;
  const EnvelopeView envelope(image);
  scale.some_have_none = image.scale.masked;
  for (std::size_t k = 0; k < envelope.size(); ++k) {
    const float value = envelope.magnitude(k);
    if (std::isfinite(value)) peak = std::max(peak, static_cast<double>(value));
    scale.some_have_none = scale.some_have_none || std::isnan(value);
  }
  if (!image.reference) scale.reference = peak;
  if (!scale.of_numbers()) return scale;
  scale.end = image.scale.end > 0.0 ? image.scale.end : peak * std::pow(10.0, -image.gain_db / 20.0);
  if (!(scale.end > 0.0) || !std::isfinite(scale.end)) scale.end = 1.0;
  scale.interpolates = !scale.some_have_none && !(image.limit > 0.0);
  return scale;
}

PanelAxis panel_axis(const Grid& grid, const Axis& axis, const Meaning& meaning, std::size_t pixels) {
  const double half = 0.5 * pixel_extent(axis, grid).value;
  return {axis.first.value - half, axis.last.value + half, pixels, shown_unit(meaning), label_of(meaning)};
}

std::string number_text(double value, double step) {
  const int digits = std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9)));
  std::string text = fmt::format("{:.{}f}", std::abs(value) < 1e-9 * step ? 0.0 : value, digits);
  if (text.front() == '-') text.replace(0, 1, "\u2212");
  return text;
}

void draw_axes(const Canvas& canvas, const Panel& panel) {
  const auto left = static_cast<double>(panel.left);
  const auto top = static_cast<double>(panel.top);
  const auto width = static_cast<double>(panel.across.pixels);
  const auto height = static_cast<double>(panel.down.pixels);
  canvas.frame(left, top, width, height);

  const double x_first = panel.across.first * panel.across.unit.to_shown;
  const double x_last = panel.across.last * panel.across.unit.to_shown;
  const double x_step = nice_step(x_last - x_first, std::clamp(width / 85.0, panel.fewest_steps, 10.0));
  for (const double value : ticks(x_first, x_last, x_step)) {
    const double x = left + panel.across.place(value * panel.across.unit.from_shown);
    canvas.stroke(x, top + height + figure_line, x, top + height + figure_line + figure_tick_length);
    canvas.text(number_text(value, x_step), figure_tick_font, x, top + height + figure_tick_length + 26.0, 0.5);
  }
  canvas.text(panel.across.label, figure_label_font, left + 0.5 * width, top + height + figure_tick_length + 64.0, 0.5);

  const double z_first = panel.down.first * panel.down.unit.to_shown;
  const double z_last = panel.down.last * panel.down.unit.to_shown;
  const double z_step = nice_step(z_last - z_first, std::clamp(height / 70.0, panel.fewest_steps, 10.0));
  double widest = 0.0;
  for (const double value : ticks(z_first, z_last, z_step)) {
    const double y = top + panel.down.place(value * panel.down.unit.from_shown);
    canvas.stroke(left - figure_line - figure_tick_length, y, left - figure_line, y);
    const std::string label = number_text(value, z_step);
    widest = std::max(widest, canvas.width_of(label, figure_tick_font));
    canvas.text(label, figure_tick_font, left - figure_tick_length - 8.0, y + 8.0, 1.0);
  }
  // The label stays within the margin.
  canvas.upward_text(panel.down.label, figure_label_font,
                     std::max(left - static_cast<double>(figure_margin_left) + 26.0, left - figure_tick_length - 24.0 - widest),
                     top + 0.5 * height);
}

void draw_colour_bar(Canvas& canvas, double left, std::size_t top, std::size_t bar_height, std::size_t right,
                     const FigureScale& scale, const Meaning& pixels) {
  const auto y0 = static_cast<double>(top);
  const auto height = static_cast<double>(bar_height);
  const auto paint = [&](std::size_t from, std::size_t rows, const auto& colour_of_row) {
    canvas.start_pixels();
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t column = 0; column < static_cast<std::size_t>(bar_width); ++column)
        canvas.pixel(static_cast<std::size_t>(left) + column, from + row, colour_of_row(row));
    }
    canvas.end_pixels();
    canvas.frame(left, static_cast<double>(from), bar_width, static_cast<double>(rows));
  };
  paint(top, bar_height, [&](std::size_t row) { return scale.colour_of_level(1.0 - (static_cast<double>(row) + 0.5) / height); });

  const ShownUnit unit = scale.of_numbers() ? shown_values(pixels, scale.end) : ShownUnit{"dB"};
  const double low = scale.low() * unit.to_shown;
  const double high = scale.high() * unit.to_shown;
  const double step = nice_step(high - low, std::clamp(height / 70.0, 2.0, 8.0));
  for (const double value : ticks(low, high, step)) {
    const double y = y0 + (high - value) / (high - low) * height;
    canvas.stroke(left + bar_width + figure_line, y, left + bar_width + figure_line + figure_tick_length, y);
    canvas.text(number_text(value, step), figure_tick_font, left + bar_width + figure_tick_length + 8.0, y + 8.0, 0.0);
  }
  canvas.upward_text(label_of(pixels.name, unit.name), figure_label_font, static_cast<double>(right) - 18.0, y0 + 0.5 * height);

  if (!scale.some_have_none) return;
  const std::size_t legend = top + bar_height + legend_gap;
  paint(legend, static_cast<std::size_t>(bar_width), [](std::size_t) { return no_value_colour; });
  canvas.text("no value", figure_tick_font, left + bar_width + 12.0, static_cast<double>(legend) + 21.0, 0.0);
}

void draw_title(const Canvas& canvas, const ImageFile& image, std::size_t width, double centre, double y) {
  std::string title = image.title;
  std::string view;
  if (!image.view.empty()) view = (title.empty() ? "view " : "  \u00b7  ") + image.view;
  if (title.empty() && view.empty()) return;
  // A long title shrinks, then loses its end. The view stays, since it distinguishes the figures of one frame.
  const double room = static_cast<double>(width) - 40.0;
  const double size = std::clamp(figure_title_font * room / std::max(canvas.width_of(title + view, figure_title_font), 1.0), 15.0,
                                 figure_title_font);
  if (canvas.width_of(title + view, size) > room) {
    while (!title.empty() && canvas.width_of(title + "\u2026" + view, size) > room) {
      while (!title.empty() && (static_cast<unsigned char>(title.back()) & 0xc0u) == 0x80u) title.pop_back();
      if (!title.empty()) title.pop_back();
    }
    title += "\u2026";
  }
  title += view;
  const double half = 0.5 * canvas.width_of(title, size);
  canvas.text(title, size, std::clamp(centre, 20.0 + half, std::max(20.0 + half, 20.0 + room - half)), y, 0.5);
}

}  // namespace echoform::formats
