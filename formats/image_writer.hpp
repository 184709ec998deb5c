// Images as files: arrays for programs, volumes for the viewers of other fields, figures for people.
#pragma once

#include <complex>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/grid.hpp"
#include "base/line_geometry.hpp"
#include "base/meaning.hpp"
#include "base/value_scale.hpp"

namespace echoform {

enum class ImageField : unsigned char { envelope, analytic };

/// What archives make of a picture.
struct ArchiveEntry {
  bool figure = true;                                             ///< the figure is kept, or the image itself
  std::vector<std::pair<std::string, std::string>> attributes{};  ///< DICOM's keywords and values of one line, UTF-8
};

/// An image to write. Nothing is owned.
struct ImageFile {
  Grid grid;
  std::span<const float> envelope{};                ///< [z, x] (volumes [z, y, x]); may be empty where `analytic` is given
  std::span<const std::complex<float>> analytic{};  ///< same shape; needed for ImageField::analytic
  ImageField field = ImageField::envelope;          ///< what array formats hold; figures always show the envelope
  std::string title{};                              ///< of figures: "notch.mat, frame 0"
  std::string view{};                               ///< "LL"; an attribute, and part of a figure's title
  double dynamic_range_db = 40.0;                   ///< of figures; > 0
  double gain_db = 0.0;                             ///< of figures: added before clipping at 0 dB
  std::optional<double> reference{};                ///< value shown as 0 dB; default the image's peak
  Meaning pixels{"amplitude", ""};                  ///< of envelopes
  /// How figures show values. The end of a scale of numbers is by default the image's peak less the gain, which else has no
  /// effect.
  ValueScale scale{};
  double limit = 0.0;   ///< of pixels with a sign: what is beyond it wraps round; 0: nothing does
  Meaning x{"x", "m"};  ///< of the grid's axes: what is in metres, .nrrd, .vti and figures tell in mm
  Meaning y{"y", "m"};
  Meaning z{"z", "m"};
  std::optional<LineGeometry> lines{};    ///< where the lines of an array [line, range] lie
  const ArchiveEntry* archive = nullptr;  ///< of .dcm
};

class ImageWriter {
 public:
  virtual ~ImageWriter() = default;
  /// Writes the whole file or nothing. Throws InputError (the spans do not fit the grid, no such directory, no permission) or
  /// RuntimeFault (disk full).
  virtual void write(const ImageFile& image) const = 0;
  /// Whether it draws for people, who look at places in the part, instead of keeping numbers for programs.
  [[nodiscard]] virtual bool draws() const { return false; }
  /// Bytes that writing takes beside the image, where that is more than a few hundred kB.
  [[nodiscard]] virtual std::size_t working_bytes() const { return 0; }
};

/// The writer for `path`, by extension. Throws InputError before any work is done if the extension is not known or the
/// directory is not there or may not be written to.
[[nodiscard]] std::unique_ptr<ImageWriter> make_image_writer(const std::filesystem::path& path);

/// Extensions that make_image_writer knows, lower case with the dot.
[[nodiscard]] std::vector<std::string> image_writer_extensions();

/// "scan.png" and "LL" make "scan.LL.png": where several views go to one output.
[[nodiscard]] std::filesystem::path with_view_name(const std::filesystem::path& path, const std::string& view);

}  // namespace echoform
