// How the detectors of a tomograph lie, and what part of the surface around the object each of them stands for.
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
  Point centre;    ///< of a sphere or ring; else the mean place
  Metres radius;   ///< of a sphere or ring; 0 of others
  Direction axis;  ///< across a plane, or of what is flat; of length 1

  /// "a sphere of radius 65 mm"
  [[nodiscard]] std::string text() const;
};

/// The best sphere or plane; `other` where detectors are farther off it than a thousandth of its radius, or of their extent. One
/// detector at least.
[[nodiscard]] DetectorSurface surface_of(std::span<const Detector> detectors);

/// What detectors stand for.
struct DetectorShares {
  std::vector<double> sizes;  ///< by detector: areas in m^2, of what is flat lengths in m
  double angle = 0.0;  ///< that all of them take up, seen from the middle of a sphere or ring, else the whole one; radians, or sr
  double whole = 0.0;  ///< what sums are to be divided by: 4 pi or 2 pi, of what is flat 2 pi or pi
  std::string how;     ///< "areas of 128 zones about z"
};

/// The same of sizes that somebody states.
[[nodiscard]] DetectorShares stated_shares(std::vector<double> sizes, const DetectorSurface& surface, WholeAngle wish);

/// Zones of rings that are evenly spaced about x, y or z and evenly filled: exact areas, from halfway to one neighbour to halfway
/// to the other. On a ring or a line, halfway likewise. On a plane the rectangle of the distances to the nearest neighbours along
/// two directions. Else all detectors have equal shares of the whole angle, seen from `middle`, of a sphere from its centre.
/// Detectors at one place share what one of them would stand for.
[[nodiscard]] DetectorShares shares_of(std::span<const Detector> detectors, const DetectorSurface& surface, WholeAngle wish,
                                       const Point& middle);

}  // namespace echoform
