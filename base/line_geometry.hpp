// Where arrays of lines by ranges lie.
#pragma once

#include "base/units.hpp"

namespace echoform {

/// Where an array [line, range] lies in the plane of x and z. Range r of a line at angle a (from +z towards +x, radians) is
/// at apex + (radius + r) (sin a, cos a). If the axis of lines is in metres, the lines are parallel, and range r of the line
/// that begins at x = a is at (a + r sin(angle), apex z + r cos(angle)).
struct LineGeometry {
  Metres apex_x;
  Metres apex_z;
  Metres radius;       ///< from the apex to where lines begin
  double angle = 0.0;  ///< of parallel lines

  [[nodiscard]] friend bool operator==(const LineGeometry&, const LineGeometry&) = default;
};

}  // namespace echoform
