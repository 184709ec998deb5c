// Writes figures of images, or of volumes, as PNG files.
#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/atomic_file.hpp"
#include "formats/figure.hpp"
#include "formats/image_formats.hpp"
#include "formats/png.hpp"
#include "formats/shown_axes.hpp"

namespace echoform::formats {
namespace {

using PngText = std::vector<std::pair<std::string, std::string>>;

/// Adds the position of an image within a figure, for programs that read coordinates off it.
void add_place(PngText& text, const PlotArea& plot) {
  const std::string of = plot.name.empty() ? "" : " " + plot.name;
  const auto across = shown_unit(plot.across);
  const auto down = shown_unit(plot.down);
  const bool millimetres = across.name == "mm" && down.name == "mm";
  text.emplace_back("PlotArea" + of, fmt::format("{} {} {} {}", plot.left, plot.top, plot.width, plot.height));
  text.emplace_back((millimetres ? "ExtentMillimetres" : "Extent") + of,
                    fmt::format("{} {} {} {}", plot.across_first * across.to_shown, plot.across_last * across.to_shown,
                                plot.down_first * down.to_shown, plot.down_last * down.to_shown));
}

std::vector<std::uint8_t> png_of_plane(const ImageFile& image) {
  const Figure figure = draw_figure(image);
  const FigureLayout& at = figure.layout;
  PngText text{{"Software", "Echoform"}, {"Title", image.title}};
  add_place(text, {"", at.left, at.top, at.plot_width, at.plot_height, at.x_first.value, at.x_last.value, at.z_first.value,
                   at.z_last.value, image.x, image.z});
  return encode_png(at.width, at.height, figure.rgb, text);
}

std::vector<std::uint8_t> png_of_volume(const ImageFile& image) {
  const VolumeFigure figure = draw_volume_figure(image);
  PngText text{{"Software", "Echoform"}, {"Title", image.title}, {"Maximum", figure.maximum}};
  for (const PlotArea& plot : figure.plots) add_place(text, plot);
  return encode_png(figure.width, figure.height, figure.rgb, text);
}

void write_png_image(const std::filesystem::path& path, const ImageFile& image) {
  const auto bytes = image.grid.y.count > 1 ? png_of_volume(image) : png_of_plane(image);
  write_file(path, std::as_bytes(std::span(bytes)));
}

}  // namespace

constinit const ImageFormat png_image_format{
    .extension = ".png",
    .meaning = "a figure with axes in mm and a dB scale; of a volume, slices through its maximum and maximum projections",
    .packages = "libpng-dev libcairo2-dev libfreetype-dev",
    .page = "command-line.md#image",
    .draws = true,
    .working_bytes = most_figure_bytes,
    .write = write_png_image,
};

}  // namespace echoform::formats
