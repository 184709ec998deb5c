// An image's axes in the units in which people and the viewers of other fields read them.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "formats/image_writer.hpp"

namespace echoform::formats {

/// The unit that stands for metres, millimetres, and the factors to it and back; any other unit stays.
struct ShownUnit {
  std::string name;  ///< "mm"; empty where the numbers have no unit
  double to_shown = 1.0;
  double from_shown = 1.0;
};
[[nodiscard]] ShownUnit shown_unit(const Meaning& meaning);

/// "x (mm)", or the name alone where the numbers have no unit.
[[nodiscard]] std::string label_of(const Meaning& meaning);
[[nodiscard]] std::string label_of(const std::string& name, const std::string& unit);

/// The unit in which values of up to `end` are shown: with a prefix, mm/s for less than 0.1 m/s and kPa from 1000 Pa on, or else
/// with a power of ten where they would have many digits. Values without a unit are in "arbitrary units", but for shares of 1.
[[nodiscard]] ShownUnit shown_values(const Meaning& meaning, double end);

struct ShownAxis {
  std::string name;
  std::string unit;
  double first = 0.0;   ///< centre of the first pixel
  double extent = 0.0;  ///< of a pixel; > 0
  std::size_t count = 1;
};
/// x, y and z.
[[nodiscard]] std::array<ShownAxis, 3> shown_axes(const ImageFile& image);
/// "x (mm), y (mm), z (mm)".
[[nodiscard]] std::string axes_text(const std::array<ShownAxis, 3>& axes);

}  // namespace echoform::formats
