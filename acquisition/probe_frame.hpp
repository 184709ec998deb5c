// The frame of coordinates that goes with a probe, in which transmit events are stated.
#pragma once

#include "acquisition/acquisition.hpp"
#include "base/geometry.hpp"

namespace echoform {

/// A right-handed frame: z along the mean of the elements' normals, x along the component of the probe's x_axis (by default
/// the global x) perpendicular to z, and y perpendicular to both. Such an x exists, since elements emit into the part
/// (normal.z > 0).
struct ProbeFrame {
  Point origin;                ///< mean of the elements' centres, dead ones included
  Direction x{1.0, 0.0, 0.0};  ///< unit vectors
  Direction y{0.0, 1.0, 0.0};
  Direction z{0.0, 0.0, 1.0};

  [[nodiscard]] Point to_probe(const Point& global) const;
  [[nodiscard]] Point to_global(const Point& in_probe) const;
  /// Converts a direction, given by its components along the frame's x, y and z.
  [[nodiscard]] Direction to_global(const Direction& in_probe) const;
};

/// The frame of a probe of at least one element. The frame of a linear array in contact, centred on x = 0, is the global
/// one.
[[nodiscard]] ProbeFrame frame_of(const Probe& probe);

/// Maximum distance of a flat array's elements from the frame's plane z = 0.
inline constexpr Metres flat_array_tolerance(10e-6);

/// Greatest |z| of an element in the probe's frame.
[[nodiscard]] Metres flatness(const Probe& probe, const ProbeFrame& frame);
/// Whether flatness() is within the tolerance: delays along x and y then determine a plane wave completely.
[[nodiscard]] bool is_flat(const Probe& probe, const ProbeFrame& frame);

}  // namespace echoform
