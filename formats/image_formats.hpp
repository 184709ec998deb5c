// The formats of images. Everything that the program says of one is its entry, which stands in the format's own file: its
// extension, how it is written, and what help and documentation say of it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "formats/image_writer.hpp"

// A line each: FORMAT(NAME) is `const ImageFormat NAME_image_format`. Messages list extensions in this order.
#define ECHOFORM_IMAGE_FORMATS(FORMAT) \
  FORMAT(npy)                          \
  FORMAT(hdf5)                         \
  FORMAT(nrrd)                         \
  FORMAT(vti)                          \
  FORMAT(uff)                          \
  FORMAT(png)                          \
  FORMAT(onde)                         \
  FORMAT(dicom)

namespace echoform::formats {

struct ImageFormat {
  std::string_view extension;     ///< lower case with the dot
  std::string_view meaning;       ///< "an array of NumPy"
  std::string_view packages{};    ///< of the libraries that it needs, as tools/install-packages names them
  std::string_view page;          ///< "command-line.md#dicom": where docs/ says more
  bool draws = false;             ///< as ImageWriter::draws(); of envelopes alone
  std::size_t working_bytes = 0;  ///< as ImageWriter::working_bytes()
  /// Why this build writes no such files; null or empty: it does.
  std::string (*missing)() = nullptr;
  /// Writes the whole file or nothing. The spans of `image` fit its grid. Throws as ImageWriter::write().
  void (*write)(const std::filesystem::path& path, const ImageFile& image) = nullptr;

  [[nodiscard]] bool written() const { return missing == nullptr || missing().empty(); }
};

#define ECHOFORM_DECLARE(NAME) extern const ImageFormat NAME##_image_format;
ECHOFORM_IMAGE_FORMATS(ECHOFORM_DECLARE)
#undef ECHOFORM_DECLARE

/// All formats, in the order of the table, including those that this build does not write.
[[nodiscard]] std::span<const ImageFormat* const> image_formats();

/// The canvas of the largest figure, its pixels by three bytes and their file, and the fonts with what looks for them: observed
/// 10.5 MB.
inline constexpr std::size_t most_figure_bytes = 13'000'000;

}  // namespace echoform::formats
