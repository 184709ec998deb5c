#include "formats/image_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/errors.hpp"
#include "formats/atomic_file.hpp"
#include "formats/image_formats.hpp"

namespace echoform {
namespace {

using formats::ImageFormat;

void check_size(const ImageFile& image, std::string_view where) {
  const std::size_t pixels = image.grid.pixels();
  const bool analytic = image.field == ImageField::analytic;
  if (analytic ? image.analytic.size() != pixels : image.envelope.size() != pixels && image.analytic.size() != pixels) {
    throw InputError(
        where,
        fmt::format("an image of {} values", analytic || image.envelope.empty() ? image.analytic.size() : image.envelope.size()),
        fmt::format("{} for its grid", pixels));
  }
}

/// Writes to one path, in that path's format.
class FormatWriter final : public ImageWriter {
 public:
  FormatWriter(std::filesystem::path path, const ImageFormat& format) : path_(std::move(path)), format_(format) {}

  void write(const ImageFile& image) const override {
    ImageFile written = image;
    if (format_.draws) written.field = ImageField::envelope;
    check_size(written, path_.string());
    format_.write(path_, written);
  }
  [[nodiscard]] bool draws() const override { return format_.draws; }
  [[nodiscard]] std::size_t working_bytes() const override { return format_.working_bytes; }

 private:
  std::filesystem::path path_;
  const ImageFormat& format_;
};

}  // namespace

std::span<const ImageFormat* const> formats::image_formats() {
#define ECHOFORM_ENTRY(NAME) &NAME##_image_format,
  static constexpr std::array all{ECHOFORM_IMAGE_FORMATS(ECHOFORM_ENTRY)};
#undef ECHOFORM_ENTRY
  return all;
}

std::vector<std::string> image_writer_extensions() {
  std::vector<std::string> extensions;
  for (const ImageFormat* const format : formats::image_formats()) {
    if (format->written()) extensions.emplace_back(format->extension);
  }
  return extensions;
}

std::unique_ptr<ImageWriter> make_image_writer(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto all = formats::image_formats();
  const auto found = std::ranges::find(all, extension, [](const ImageFormat* format) { return format->extension; });
  if (found != all.end() && (*found)->written()) {
    check_output_place(path);
    return std::make_unique<FormatWriter>(path, **found);
  }
  throw InputError(path.string(), extension.empty() ? "no extension" : fmt::format("extension \"{}\"", extension),
                   fmt::format("one of: {}{}", fmt::join(image_writer_extensions(), ", "),
                               found != all.end() ? fmt::format(" ({})", (*found)->missing()) : ""));
}

std::filesystem::path with_view_name(const std::filesystem::path& path, const std::string& view) {
  auto named = path;
  return named.replace_filename(fmt::format("{}.{}{}", path.stem().string(), view, path.extension().string()));
}

}  // namespace echoform
