#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

#include "formats/array_files.hpp"
#include "formats/image_formats.hpp"
#include "formats/shown_axes.hpp"

namespace echoform::formats {
namespace {

/// VTK keeps text as the codes of its bytes, so nothing needs to be escaped.
std::string text_array(std::string_view name, std::string_view text) {
  std::string codes;
  for (const char c : text) codes += fmt::format("{} ", static_cast<int>(c));
  return fmt::format("      <Array type=\"String\" Name=\"{}\" NumberOfTuples=\"1\" format=\"ascii\">{}0</Array>\n", name, codes);
}

/// VTK's XML image data, as ParaView reads it, in mm: one array of points named as the field is, with two components if complex.
ArrayText vti_text(const ImageFile& image) {
  const auto axes = shown_axes(image);
  const auto& [x, y, z] = axes;
  const bool analytic = image.field == ImageField::analytic;
  const std::string_view field = analytic ? "analytic" : "envelope";
  const std::string extent = fmt::format("0 {} 0 {} 0 {}", x.count - 1, y.count - 1, z.count - 1);
  std::string text = "<?xml version=\"1.0\"?>\n";
  text += "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n";
  text += fmt::format("  <ImageData WholeExtent=\"{}\" Origin=\"{} {} {}\" Spacing=\"{} {} {}\">\n", extent, x.first, y.first,
                      z.first, x.extent, y.extent, z.extent);
  text += "    <FieldData>\n";
  text += text_array("axes", axes_text(axes));
  text += text_array("quantity", image.pixels.name);
  if (!image.pixels.unit.empty()) text += text_array("quantity unit", image.pixels.unit);
  if (!image.view.empty()) text += text_array("view", image.view);
  if (!image.title.empty()) text += text_array("title", image.title);
  text += text_array("software", "Echoform");
  text += "    </FieldData>\n";
  text += fmt::format("    <Piece Extent=\"{}\">\n      <PointData Scalars=\"{}\">\n", extent, field);
  text += fmt::format("        <DataArray type=\"Float32\" Name=\"{}\"{} format=\"appended\" offset=\"0\"/>\n", field,
                      analytic ? " NumberOfComponents=\"2\" ComponentName0=\"real\" ComponentName1=\"imaginary\"" : "");
  text += "      </PointData>\n    </Piece>\n  </ImageData>\n  <AppendedData encoding=\"raw\">\n   _";
  const std::uint64_t bytes = image.grid.pixels() * (analytic ? sizeof(std::complex<float>) : sizeof(float));
  const auto count = std::bit_cast<std::array<char, sizeof(bytes)>>(bytes);
  text.append(count.data(), count.size());
  return {text, "\n  </AppendedData>\n</VTKFile>\n"};
}

}  // namespace

constinit const ImageFormat vti_image_format{
    .extension = ".vti",
    .meaning = "the image in mm, for ParaView",
    .page = "command-line.md#image",
    .write = [](const std::filesystem::path& path, const ImageFile& image) { write_array_file(path, image, vti_text(image)); },
};

}  // namespace echoform::formats
