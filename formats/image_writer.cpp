#include "formats/image_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/errors.hpp"
#include "formats/atomic_file.hpp"
#include "formats/figure.hpp"
#include "formats/hdf5_image.hpp"
#include "formats/png.hpp"

namespace echoform {
namespace {

void check(const ImageFile& image, std::string_view where) {
  const std::size_t pixels = image.grid.pixels();
  const bool analytic = image.field == ImageField::analytic;
  if (analytic ? image.analytic.size() != pixels : image.envelope.size() != pixels && image.analytic.size() != pixels) {
    throw InputError(
        where,
        fmt::format("an image of {} values", analytic || image.envelope.empty() ? image.analytic.size() : image.envelope.size()),
        fmt::format("{} for its grid", pixels));
  }
}

std::vector<float> envelope_of(const ImageFile& image) {
  if (!image.envelope.empty()) return {image.envelope.begin(), image.envelope.end()};
  std::vector<float> envelope(image.analytic.size());
  std::transform(image.analytic.begin(), image.analytic.end(), envelope.begin(),
                 [](std::complex<float> value) { return std::abs(value); });
  return envelope;
}

class PathWriter : public ImageWriter {
 public:
  explicit PathWriter(std::filesystem::path path) : path_(std::move(path)) {}

 protected:
  std::filesystem::path path_;
};

/// NumPy's format 1.0: magic, a Python literal padded to 64 bytes, C-order data.
class NpyWriter final : public PathWriter {
 public:
  using PathWriter::PathWriter;
  void write(const ImageFile& image) const override {
    check(image, path_.string());
    const bool analytic = image.field == ImageField::analytic;
    const Grid& grid = image.grid;
    const std::string shape = grid.y.count > 1 ? fmt::format("{}, {}, {}", grid.z.count, grid.y.count, grid.x.count)
                                               : fmt::format("{}, {}", grid.z.count, grid.x.count);
    std::string header =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", analytic ? "<c8" : "<f4", shape);
    constexpr std::size_t preamble = 10;
    header.append((64 - (preamble + header.size() + 1) % 64) % 64, ' ');
    header += '\n';

    const auto envelope = analytic ? std::vector<float>() : envelope_of(image);
    const auto data = analytic ? std::as_bytes(image.analytic) : std::as_bytes(std::span(envelope));
    std::vector<std::byte> file(preamble + header.size() + data.size());
    const std::array<unsigned char, preamble> start{0x93,
                                                    'N',
                                                    'U',
                                                    'M',
                                                    'P',
                                                    'Y',
                                                    1,
                                                    0,
                                                    static_cast<unsigned char>(header.size() & 0xff),
                                                    static_cast<unsigned char>(header.size() >> 8)};
    std::memcpy(file.data(), start.data(), preamble);
    std::memcpy(file.data() + preamble, header.data(), header.size());
    std::memcpy(file.data() + preamble + header.size(), data.data(), data.size());
    write_file(path_, file);
  }
};

class PngWriter final : public PathWriter {
 public:
  using PathWriter::PathWriter;
  void write(const ImageFile& image) const override {
    ImageFile envelope_only = image;
    envelope_only.field = ImageField::envelope;
    check(envelope_only, path_.string());
    const Figure figure = draw_figure(envelope_only);
    const FigureLayout& layout = figure.layout;
    // The place of the image within the figure, for programs that read positions off it.
    const auto bytes =
        encode_png(layout.width, layout.height, figure.rgb,
                   {{"Software", "Echoform"},
                    {"Title", image.title},
                    {"PlotArea", fmt::format("{} {} {} {}", layout.left, layout.top, layout.plot_width, layout.plot_height)},
                    {"ExtentMillimetres", fmt::format("{} {} {} {}", layout.x_first.value * 1e3, layout.x_last.value * 1e3,
                                                      layout.z_first.value * 1e3, layout.z_last.value * 1e3)}});
    write_file(path_, std::as_bytes(std::span(bytes)));
  }
};

class Hdf5Writer final : public PathWriter {
 public:
  using PathWriter::PathWriter;
  void write(const ImageFile& image) const override {
    check(image, path_.string());
    AtomicFile file(path_);
    if (image.field == ImageField::analytic || !image.envelope.empty()) {
      formats::write_hdf5_image(file.aside(), path_.string(), image);
    } else {
      const auto envelope = envelope_of(image);
      ImageFile copy = image;
      copy.envelope = envelope;
      formats::write_hdf5_image(file.aside(), path_.string(), copy);
    }
    file.commit();
  }
};

struct ImageFormat {
  std::string_view extension;
  std::unique_ptr<ImageWriter> (*make)(const std::filesystem::path&);
};

template <class Writer>
std::unique_ptr<ImageWriter> make(const std::filesystem::path& path) {
  return std::make_unique<Writer>(path);
}

// One line a format.
constexpr std::array image_formats{
    ImageFormat{".npy", make<NpyWriter>},
    ImageFormat{".png", make<PngWriter>},
    ImageFormat{".h5", make<Hdf5Writer>},
};

}  // namespace

std::vector<std::string> image_writer_extensions() {
  std::vector<std::string> extensions;
  for (const auto& format : image_formats) extensions.emplace_back(format.extension);
  return extensions;
}

std::unique_ptr<ImageWriter> make_image_writer(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const auto& format : image_formats) {
    if (format.extension != extension) continue;
    check_output_place(path);
    return format.make(path);
  }
  throw InputError(path.string(), extension.empty() ? "no extension" : fmt::format("extension \"{}\"", extension),
                   fmt::format("one of: {}", fmt::join(image_writer_extensions(), ", ")));
}

std::filesystem::path with_view_name(const std::filesystem::path& path, const std::string& view) {
  auto named = path;
  return named.replace_filename(fmt::format("{}.{}{}", path.stem().string(), view, path.extension().string()));
}

}  // namespace echoform
