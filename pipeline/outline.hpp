// Lines of the set-up that are drawn over an image.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace echoform {

inline constexpr std::size_t most_outlines = 8;
inline constexpr std::size_t most_outline_points = 256;

/// A line through points, or a row of places: "probe" (the element centres), "surface", "backwall". Metres, in the image's
/// coordinates; as many x as z, at most most_outline_points. Numbers of images: they need no more than single precision.
struct Outline {
  std::string name;
  std::vector<float> x;
  std::vector<float> z;
};

}  // namespace echoform
