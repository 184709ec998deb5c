// Surfaces in the simulated source: curves in the plane of x and z, as places along a parameter. The imaging code has its
// own description in rays/. Neither uses the other, so that each checks the other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace echoform {

enum class CurveKind : std::uint8_t { none, plane, cylinder, profile, sphere, revolved, mesh };

/// A point of a profile in metres; `radius` is that of an arc which leads to it, positive where it bulges upwards; 0: a line.
struct ProfileKnot {
  double x = 0.0;
  double z = 0.0;
  double radius = 0.0;
};

/// The corners of a triangle, each x, y and z in metres.
using MeshTriangle = std::array<std::array<double, 3>, 3>;

/// What a surface is, in the words of docs/views.md. Metres.
struct CurveShape {
  CurveKind kind = CurveKind::none;
  double x = 0.0;      ///< crown of a cylinder, shift of a profile, zero of the axis of a revolved one
  double z = 0.0;      ///< likewise; of a plane its depth at x = 0
  double angle = 0.0;  ///< degrees; how much deeper a plane becomes along x
  /// In space alone, as sampled_shape.hpp has it: how much deeper a plane becomes along y; where along y a crown lies; how the
  /// axis of a cylinder is turned about z, from y towards x, and goes down. Degrees and metres.
  double angle_across = 0.0;
  double y = 0.0;
  double turn = 0.0;
  double dip = 0.0;
  double radius = 0.0;  ///< of a cylinder or a sphere
  bool inside = false;  ///< of either, and of a revolved profile: concave towards the probe
  bool smooth = false;  ///< of a profile: a natural cubic spline over the chord length instead of lines and arcs
  /// Of a revolved profile x is the place along the axis and z the distance from it; a radius bulges away from the axis.
  std::vector<ProfileKnot> knots;
  /// The triangles of a mesh, which is a closed surface. All triangles have the same orientation.
  std::shared_ptr<const std::vector<MeshTriangle>> triangles{};

  /// Whether the surface is not just a curve in the plane of x and z, extended along y.
  [[nodiscard]] bool solid() const {
    return kind == CurveKind::sphere || kind == CurveKind::revolved || kind == CurveKind::mesh || angle_across != 0.0 ||
           turn != 0.0 || dip != 0.0;
  }
};

/// Lines of x,z or x,z,radius in metres; a heading and remarks (#) are passed over. InputError if the file cannot be read or
/// holds fewer than two points; what else may be wrong with it, the imaging side's reader says.
[[nodiscard]] std::vector<ProfileKnot> read_profile_knots(const std::string& path);

namespace simulated {

/// A place in the plane of x and z, in metres.
struct Place {
  double x = 0.0;
  double z = 0.0;
};

[[nodiscard]] double distance(Place a, Place b);

/// A shape, and samples of it that searches begin with, from left to right.
class SampledCurve {
 public:
  /// Samples the part of the shape that rays between `places` can meet, at about `count` places or more. `shape` is not none.
  SampledCurve(const CurveShape& shape, std::span<const Place> places, std::size_t count);

  [[nodiscard]] Place at(double u) const;
  /// Unit normal, into the part for a front surface: (-dz, dx) of the way along the curve.
  [[nodiscard]] Place normal(double u) const;
  [[nodiscard]] bool straight() const { return shape_.kind == CurveKind::plane; }
  /// Whether the tangent may jump.
  [[nodiscard]] bool cornered() const { return shape_.kind == CurveKind::profile && !shape_.smooth; }

  [[nodiscard]] const std::vector<double>& parameters() const { return parameters_; }
  [[nodiscard]] const std::vector<Place>& samples() const { return samples_; }

  /// Distance of a place from the curve, positive below it; to the sampling's fineness.
  [[nodiscard]] double depth_below(Place place) const;
  /// Whether the straight path from a to b meets the curve, except near the path's ends.
  [[nodiscard]] bool blocks(Place a, Place b) const;

 private:
  [[nodiscard]] Place on_profile(double u) const;
  void find_curvatures();

  CurveShape shape_;
  Place slope_{1.0, 0.0};           // cosine and sine of a plane's angle
  std::vector<double> lengths_;     // of a profile's chords
  std::vector<Place> curvatures_;   // second derivatives of the spline at its knots
  std::vector<double> parameters_;  // u of the samples, rising
  std::vector<Place> samples_;
  double spacing_ = 0.0;  // of the samples, at most
};

}  // namespace simulated
}  // namespace echoform
