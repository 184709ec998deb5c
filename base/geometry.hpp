// Points and directions. Right-handed: x along the array, z into the part, y across.
#pragma once

#include "base/units.hpp"

namespace echoform {

/// A place in global coordinates.
struct Point {
  Metres x;
  Metres y;
  Metres z;

  constexpr auto operator<=>(const Point&) const = default;
};

/// A direction; need not be of unit length unless a function asks for it.
struct Direction {
  double x = 0.0;
  double y = 0.0;
  double z = 1.0;

  constexpr auto operator<=>(const Direction&) const = default;
};

}  // namespace echoform
