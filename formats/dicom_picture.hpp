// What a DICOM picture shows, and where.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/colour_map.hpp"
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

/// Where a picture lies, in DICOM's coordinates of a patient (base/anatomical_axes.hpp).
struct PicturePlace {
  std::array<double, 3> first{};   ///< the centre of the upper left pixel, mm
  std::array<double, 3> across{};  ///< directions of length 1, of rows
  std::array<double, 3> down{};    ///< and of columns
};

/// What the bytes of a picture with one a pixel stand for: intercept + slope * byte, of `unit`.
struct PictureValues {
  std::string name;  ///< "velocity"
  std::string unit;  ///< as in Meaning; "dB"
  double intercept = 0.0;
  double slope = 0.0;
  std::uint8_t first = 0;      ///< byte that stands for something; those below it are no value
  std::vector<Rgb> colours{};  ///< of all 256 bytes; empty: grey
};

struct Picture {
  std::size_t width = 0;
  std::size_t height = 0;
  std::optional<PictureValues> values;  ///< one byte a pixel; none: colours, three bytes a pixel
  bool names_input = false;             ///< whether the picture's own text says what the image is of
  std::vector<std::uint8_t> pixels;     ///< [height, width] or [height, width, 3]
  std::vector<PictureRegion> regions;
  std::optional<PicturePlace> place;  ///< of a picture of one plane of the part

  /// Spacing of neighbouring pixels, down and across, in metres; none if regions differ or are in other units.
  [[nodiscard]] std::optional<std::pair<double, double>> spacing() const;
};

/// Throws InputError, naming `where`, as writing a .dcm file.
[[nodiscard]] Picture dicom_picture(const ImageFile& image, const std::string& where);

}  // namespace echoform::formats
