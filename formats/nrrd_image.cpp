#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/anatomical_axes.hpp"
#include "formats/array_files.hpp"
#include "formats/image_formats.hpp"
#include "formats/shown_axes.hpp"

namespace echoform::formats {
namespace {

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

/// The value of a key, on one line whatever characters it has.
std::string value_text(std::string_view text) {
  std::string value;
  for (const char c : text) {
    if (c == '\\') {
      value += "\\\\";
    } else if (c == '\n') {
      value += "\\n";
    } else {
      value += is_control(c) ? ' ' : c;
    }
  }
  return value;
}

/// The text in quotes; only quotes are escaped.
std::string in_quotes(std::string_view text) {
  std::string value = "\"";
  for (const char c : text) {
    if (c == '"') value += '\\';
    value += is_control(c) || c == '\\' ? ' ' : c;
  }
  return value + '"';
}

std::string vector_text(double a, double b, double c) {
  return fmt::format("({},{},{})", a, b, c);
}

/// The space, the vectors from a pixel to the next, and the position of the first pixel.
struct Space {
  std::string name;
  std::string directions;
  std::string origin;
};

Space space_of(const ImageFile& image) {
  const auto places = image.lines ? std::nullopt : pixel_places(image.grid, image.x, image.y, image.z);
  if (places) {
    const RasMatrix matrix = ras_of_pixels(*places);
    const auto column = [&](std::size_t k) { return vector_text(matrix[0][k], matrix[1][k], matrix[2][k]); };
    return {"space: right-anterior-superior", fmt::format("{} {} {}", column(0), column(1), column(2)), column(3)};
  }
  // Ranges, angles and times are not positions in a patient.
  const auto& [x, y, z] = shown_axes(image);
  return {"space dimension: 3", fmt::format("({},0,0) (0,{},0) (0,0,{})", x.extent, y.extent, z.extent),
          vector_text(x.first, y.first, z.first)};
}

/// NRRD, as teem and 3D Slicer read it. There are always three axes x, y and z, in mm, at their R, A and S
/// (base/anatomical_axes.hpp). Axes that are no positions get a space of their own. Complex values add an axis of two before the
/// others. https://teem.sourceforge.net/nrrd/format.html
ArrayText nrrd_text(const ImageFile& image) {
  const auto axes = shown_axes(image);
  const auto& [x, y, z] = axes;
  const bool analytic = image.field == ImageField::analytic;
  // An axis of the two numbers of a complex value has no direction in space.
  const auto components = [analytic](std::string_view what) { return analytic ? what : std::string_view(); };

  std::string text = "NRRD0004\n# Complete NRRD file format specification at:\n# http://teem.sourceforge.net/nrrd/format.html\n";
  text += "type: float\n";
  text += fmt::format("dimension: {}\n", analytic ? 4 : 3);
  // The sizes come before the space: after it, VTK's reader takes the dimension of the space for that of the file.
  text += fmt::format("sizes: {}{} {} {}\n", components("2 "), x.count, y.count, z.count);
  const Space space = space_of(image);
  text += fmt::format("{}\nspace directions: {}{}\n", space.name, components("none "), space.directions);
  text += fmt::format("kinds: {}domain domain domain\n", components("complex "));
  text += "endian: little\nencoding: raw\n";
  text += fmt::format("space units: {} {} {}\n", in_quotes(x.unit), in_quotes(y.unit), in_quotes(z.unit));
  text += fmt::format("space origin: {}\n", space.origin);
  text += fmt::format("field:={}\n", analytic ? "analytic" : "envelope");
  text += fmt::format("axes:={}\n", value_text(axes_text(axes)));
  text += fmt::format("quantity:={}\n", value_text(image.pixels.name));
  if (!image.pixels.unit.empty()) text += fmt::format("quantity unit:={}\n", value_text(image.pixels.unit));
  if (!image.view.empty()) text += fmt::format("view:={}\n", value_text(image.view));
  if (!image.title.empty()) text += fmt::format("title:={}\n", value_text(image.title));
  text += "software:=Echoform\n\n";
  return {text};
}

}  // namespace

constinit const ImageFormat nrrd_image_format{
    .extension = ".nrrd",
    .meaning = "the image in mm, for 3D Slicer",
    .page = "command-line.md#image",
    .write = [](const std::filesystem::path& path, const ImageFile& image) { write_array_file(path, image, nrrd_text(image)); },
};

}  // namespace echoform::formats
