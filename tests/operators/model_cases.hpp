// Geometries that tests of both models share, and exact signals of balls.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "operators/linear_operator.hpp"
#include "operators/model_geometry.hpp"

namespace echoform::test {

struct NamedGeometry {
  std::string name;
  ModelGeometry geometry;
};

/// Small ones: detectors on a sphere, on a ring beyond the grid, on a plane close to it, anywhere with normals and sizes; a
/// single layer of voxels, and a row of them longer than those that are worked on together; records from before the pulse of
/// light.
[[nodiscard]] std::vector<NamedGeometry> model_cases();

/// A detector at distance, polar angle and azimuth (degrees) from a point, that looks at it; 2 x 1 mm.
[[nodiscard]] Detector detector_at(const Point& middle, Metres distance, double polar, double azimuth);

/// A ball of pressure 1, blurred by a Gaussian.
struct BlurredBall {
  Point centre;
  Metres radius;
  Metres sigma;

  /// Pressure at a distance from its centre when the light falls.
  [[nodiscard]] double pressure(double distance) const;
  /// u / (2 d) pressure(|u|), u = d - c t, and what runs through the centre first.
  [[nodiscard]] double signal(const Point& detector, MetresPerSecond velocity, double time) const;
};

/// The signals of all detectors, [detector, sample].
[[nodiscard]] std::vector<double> signals_of(const BlurredBall& ball, const ModelGeometry& geometry);
/// The ball's values at the voxels, [z, y, x].
[[nodiscard]] std::vector<float> image_of(const BlurredBall& ball, const Grid& grid);

/// Points about an off-centre ball in a box of 6 mm, voxels `spacing` apart.
[[nodiscard]] ModelGeometry ball_geometry(Metres spacing);
[[nodiscard]] BlurredBall off_centre_ball();
/// |data - exact| / |exact| of that ball's image, for the detector where it is largest.
[[nodiscard]] double ball_error(LinearOperator& linear, const ModelGeometry& geometry);

}  // namespace echoform::test
