// What a DICOM picture shows, and where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/image_writer.hpp"

namespace echoform::formats {

/// One axis of a region: what its first pixel's centre and each further pixel stand for, in the unit's own numbers.
struct PictureAxis {
  double first = 0.0;
  double step = 0.0;
  std::string unit;  ///< "m", "s", any other
};

struct PictureRegion {
  std::size_t left = 0;
  std::size_t top = 0;
  std::size_t width = 0;
  std::size_t height = 0;
  PictureAxis across;
  PictureAxis down;
};

struct Picture {
  std::size_t width = 0;
  std::size_t height = 0;
  bool grey = false;                 ///< one byte a pixel, else three
  bool names_input = false;          ///< whether the picture's own text says what the image is of
  std::vector<std::uint8_t> pixels;  ///< [height, width] or [height, width, 3]
  std::vector<PictureRegion> regions;

  /// Of neighbouring pixels, down and across, in metres; none where regions differ or are in other units.
  [[nodiscard]] std::optional<std::pair<double, double>> spacing() const;
};

/// Throws InputError, naming `where`, as write_dicom().
[[nodiscard]] Picture dicom_picture(const ImageFile& image, const std::string& where);

}  // namespace echoform::formats
