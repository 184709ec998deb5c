// Rotation about the line on which elements stand: the wave of a row of elements is the same all around it.
#pragma once

#include "acquisition/probe_frame.hpp"
#include "base/grid.hpp"

namespace echoform {

/// The rotation about the x axis of `frame`, into the half plane of its z > 0.
struct Revolution {
  ProbeFrame frame;

  /// The point at (x, hypot(y, z)) of the frame's x and z; `p` itself, bit for bit, where it lies in the half plane, to 1 nm.
  [[nodiscard]] Point turned(const Point& p) const;
  /// Whether the point lies in the whole plane of x and z, to 1 nm.
  [[nodiscard]] bool in_plane(const Point& p) const;
  /// Whether all pixels of the grid lie in the half plane, or in the plane.
  [[nodiscard]] bool in_half_plane(const Grid& grid) const;
  [[nodiscard]] bool in_plane(const Grid& grid) const;

  [[nodiscard]] friend bool operator==(const Revolution& a, const Revolution& b) {
    return a.frame.origin == b.frame.origin && a.frame.x == b.frame.x && a.frame.y == b.frame.y && a.frame.z == b.frame.z;
  }
};

}  // namespace echoform
