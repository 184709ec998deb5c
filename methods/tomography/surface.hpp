// The arrangement of the detectors of a tomograph, and the part of the surface around the object that each of them
// represents.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "acquisition/detectors.hpp"
#include "base/geometry.hpp"
#include "base/units.hpp"
#include "methods/tomography/section.hpp"

namespace echoform {

enum class SurfaceShape : std::uint8_t { sphere, plane, other };

struct DetectorSurface {
  SurfaceShape shape = SurfaceShape::other;
  /// All detectors and their normals lie in one plane, as those of a ring do: images are made in it. A `sphere` is a ring then,
  /// a `plane` a line.
  bool flat = false;
  Point centre;    ///< centre of a sphere or ring; else the mean place
  Metres radius;   ///< radius of a sphere or ring; 0 for others
  Direction axis;  ///< normal of the plane of the detectors; if flat, of the plane that holds their normals too; of length 1

  /// "a sphere of radius 65 mm"
  [[nodiscard]] std::string text() const;
};

/// The best sphere or plane; `other` where detectors are farther from it than a thousandth of its radius, or of their
/// extent. Expects at least one detector.
[[nodiscard]] DetectorSurface surface_of(std::span<const Detector> detectors);

/// The part of the surface that each detector represents.
struct DetectorShares {
  std::vector<double> sizes;  ///< one a detector: areas in m^2, or lengths in m of what is flat
  double angle = 0.0;         ///< angle of all detectors from the middle of a sphere or ring, else the whole; radians or sr
  double whole = 0.0;         ///< divisor of sums: 4 pi or 2 pi; 2 pi or pi of what is flat
  std::string how;            ///< "areas of 128 zones about z"
};

/// The shares of detectors whose sizes are stated.
[[nodiscard]] DetectorShares stated_shares(std::vector<double> sizes, const DetectorSurface& surface, WholeAngle wish);

/// The shares of detectors that follow from their places:
/// - On rings that are evenly spaced about x, y or z and evenly filled, the exact areas of zones, from halfway to one
///   neighbour to halfway to the other.
/// - On a ring or a line, the lengths from halfway to one neighbour to halfway to the other.
/// - On a plane, the rectangle of the distances to the nearest neighbours along two directions.
/// - Otherwise equal shares of the whole angle, seen from `middle`, or from the centre of a sphere.
/// Detectors at one place share what one of them would represent.
[[nodiscard]] DetectorShares shares_of(std::span<const Detector> detectors, const DetectorSurface& surface, WholeAngle wish,
                                       const Point& middle);

}  // namespace echoform
