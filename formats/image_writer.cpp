#include "formats/image_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/errors.hpp"
#include "formats/array_files.hpp"
#include "formats/atomic_file.hpp"
#include "formats/dicom.hpp"
#include "formats/envelope_view.hpp"
#include "formats/figure.hpp"
#include "formats/hdf5_image.hpp"
#include "formats/onde_writer.hpp"
#include "formats/png.hpp"
#include "formats/shown_axes.hpp"
#include "formats/uff_image.hpp"

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

class PathWriter : public ImageWriter {
 public:
  explicit PathWriter(std::filesystem::path path) : path_(std::move(path)) {}

 protected:
  std::filesystem::path path_;
};

template <formats::ArrayText (*text)(const ImageFile&)>
class ArrayWriter final : public PathWriter {
 public:
  using PathWriter::PathWriter;
  void write(const ImageFile& image) const override {
    check(image, path_.string());
    formats::write_array_file(path_, image, text(image));
  }
};

/// The canvas of the largest figure, its pixels by three bytes and their file, and the fonts with what looks for them: observed
/// 10.5 MB.
constexpr std::size_t most_figure_bytes = 13'000'000;

class PngWriter final : public PathWriter {
 public:
  using PathWriter::PathWriter;
  void write(const ImageFile& image) const override {
    ImageFile envelope_only = image;
    envelope_only.field = ImageField::envelope;
    check(envelope_only, path_.string());
    const auto bytes = image.grid.y.count > 1 ? volume(envelope_only) : plane(envelope_only);
    write_file(path_, std::as_bytes(std::span(bytes)));
  }
  [[nodiscard]] bool draws() const override { return true; }
  [[nodiscard]] std::size_t working_bytes() const override { return most_figure_bytes; }

 private:
  using Text = std::vector<std::pair<std::string, std::string>>;

  // The place of an image within a figure, for programs that read positions off it.
  static void add_place(Text& text, const PlotArea& plot) {
    const std::string of = plot.name.empty() ? "" : " " + plot.name;
    const auto across = formats::shown_unit(plot.across);
    const auto down = formats::shown_unit(plot.down);
    const bool millimetres = across.name == "mm" && down.name == "mm";
    text.emplace_back("PlotArea" + of, fmt::format("{} {} {} {}", plot.left, plot.top, plot.width, plot.height));
    text.emplace_back((millimetres ? "ExtentMillimetres" : "Extent") + of,
                      fmt::format("{} {} {} {}", plot.across_first * across.to_shown, plot.across_last * across.to_shown,
                                  plot.down_first * down.to_shown, plot.down_last * down.to_shown));
  }

  static std::vector<std::uint8_t> plane(const ImageFile& image) {
    const Figure figure = draw_figure(image);
    const FigureLayout& at = figure.layout;
    Text text{{"Software", "Echoform"}, {"Title", image.title}};
    add_place(text, {"", at.left, at.top, at.plot_width, at.plot_height, at.x_first.value, at.x_last.value, at.z_first.value,
                     at.z_last.value, image.x, image.z});
    return encode_png(at.width, at.height, figure.rgb, text);
  }

  static std::vector<std::uint8_t> volume(const ImageFile& image) {
    const VolumeFigure figure = draw_volume_figure(image);
    Text text{{"Software", "Echoform"}, {"Title", image.title}, {"Maximum", figure.maximum}};
    for (const PlotArea& plot : figure.plots) add_place(text, plot);
    return encode_png(figure.width, figure.height, figure.rgb, text);
  }
};

template <void (*write_image)(int, const std::string&, const ImageFile&)>
class Hdf5Writer final : public PathWriter {
 public:
  using PathWriter::PathWriter;
  void write(const ImageFile& image) const override {
    check(image, path_.string());
    AtomicFile file(path_);
    if (image.field == ImageField::analytic || !image.envelope.empty()) {
      write_image(file.descriptor(), path_.string(), image);
    } else {
      std::vector<float> envelope(image.analytic.size());
      formats::EnvelopeView(image).copy(0, envelope);
      ImageFile copy = image;
      copy.envelope = envelope;
      write_image(file.descriptor(), path_.string(), copy);
    }
    file.commit();
  }
};

class DicomWriter final : public PathWriter {
 public:
  using PathWriter::PathWriter;
  void write(const ImageFile& image) const override {
    ImageFile envelope_only = image;
    envelope_only.field = ImageField::envelope;
    check(envelope_only, path_.string());
    AtomicFile file(path_);
    formats::write_dicom(file.aside(), path_.string(), envelope_only);
    file.commit();
  }
  [[nodiscard]] bool draws() const override { return true; }
  [[nodiscard]] std::size_t working_bytes() const override { return 2 * most_figure_bytes; }
};

class UffImageWriter final : public PathWriter {
 public:
  using PathWriter::PathWriter;
  void write(const ImageFile& image) const override {
    check(image, path_.string());
    AtomicFile file(path_);
    formats::write_uff_image(file.descriptor(), path_.string(), image);
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

constexpr std::string_view dicom_extension = ".dcm";

// One line a format.
constexpr std::array image_formats{
    ImageFormat{".npy", make<ArrayWriter<formats::npy_text>>},
    ImageFormat{".h5", make<Hdf5Writer<formats::write_hdf5_image>>},
    ImageFormat{".nrrd", make<ArrayWriter<formats::nrrd_text>>},
    ImageFormat{".vti", make<ArrayWriter<formats::vti_text>>},
    ImageFormat{".uff", make<UffImageWriter>},
    ImageFormat{".png", make<PngWriter>},
    ImageFormat{".onde", make<Hdf5Writer<formats::write_onde_image>>},
    ImageFormat{dicom_extension, make<DicomWriter>},
};

}  // namespace

std::vector<std::string> image_writer_extensions() {
  std::vector<std::string> extensions;
  for (const auto& format : image_formats) {
    if (format.extension != dicom_extension || formats::dicom_available()) extensions.emplace_back(format.extension);
  }
  return extensions;
}

std::unique_ptr<ImageWriter> make_image_writer(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const auto& format : image_formats) {
    if (format.extension != extension) continue;
    if (extension == dicom_extension && !formats::dicom_available()) break;
    check_output_place(path);
    return format.make(path);
  }
  throw InputError(path.string(), extension.empty() ? "no extension" : fmt::format("extension \"{}\"", extension),
                   fmt::format("one of: {}{}", fmt::join(image_writer_extensions(), ", "),
                               extension == dicom_extension ? " (DCMTK: " + formats::dicom_status() + ")" : ""));
}

std::filesystem::path with_view_name(const std::filesystem::path& path, const std::string& view) {
  auto named = path;
  return named.replace_filename(fmt::format("{}.{}{}", path.stem().string(), view, path.extension().string()));
}

}  // namespace echoform
