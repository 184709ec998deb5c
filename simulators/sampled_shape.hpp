// Surfaces as the simulated source knows them in space: places along two parameters, sampled on a lattice of both. As for curves
// (sampled_curve.hpp), nothing is shared with the imaging side's description in rays/.
#pragma once

#include <cmath>
#include <cstddef>
#include <memory>
#include <numbers>
#include <span>
#include <vector>

#include "base/geometry.hpp"
#include "simulators/sampled_curve.hpp"

namespace echoform::simulated {

inline constexpr double degree = std::numbers::pi / 180.0;

/// A place in space, or a vector between two places, in metres.
struct Spot {
  double x = 0.0;
  double y = 0.0;
  double z = 0.0;
};

[[nodiscard]] inline Spot operator+(const Spot& a, const Spot& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
[[nodiscard]] inline Spot operator-(const Spot& a, const Spot& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
[[nodiscard]] inline Spot operator*(double k, const Spot& a) {
  return {k * a.x, k * a.y, k * a.z};
}
[[nodiscard]] inline double inner(const Spot& a, const Spot& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
[[nodiscard]] inline double distance(const Spot& a, const Spot& b) {
  const Spot way = b - a;
  return std::sqrt(inner(way, way));
}

[[nodiscard]] inline Spot spot_of(const Point& at) {
  return {at.x.value, at.y.value, at.z.value};
}
/// The projection onto the plane of x and z.
[[nodiscard]] inline Place in_plane(const Spot& at) {
  return {at.x, at.z};
}

/// The two parameters of a place on a shape.
struct Parameters2 {
  double u = 0.0;
  double v = 0.0;
};

class SampledShape {
 public:
  virtual ~SampledShape() = default;
  SampledShape() = default;
  SampledShape(const SampledShape&) = delete;
  SampledShape& operator=(const SampledShape&) = delete;

  [[nodiscard]] virtual Spot at(Parameters2 at) const = 0;
  /// Unit normal: into the part of a front surface, out of it of a backwall.
  [[nodiscard]] virtual Spot normal(Parameters2 at) const = 0;
  /// Distance of a place from the shape, positive on the side that the normal points to; to the sampling's fineness.
  [[nodiscard]] virtual double depth_below(const Spot& place) const = 0;
  /// Whether the straight way from a to b meets the shape, but near its ends.
  [[nodiscard]] virtual bool blocks(const Spot& a, const Spot& b) const = 0;

  /// Parameters of the samples, rising; samples in the order [v, u].
  [[nodiscard]] const std::vector<double>& us() const { return us_; }
  [[nodiscard]] const std::vector<double>& vs() const { return vs_; }
  [[nodiscard]] const std::vector<Spot>& samples() const { return samples_; }
  [[nodiscard]] Parameters2 parameters(std::size_t sample) const { return {us_[sample % us_.size()], vs_[sample / us_.size()]}; }
  /// How far apart samples are about one that is at no end.
  [[nodiscard]] Parameters2 spacing(std::size_t sample) const;
  /// Samples at which a time over all of them is no later than at their eight neighbours, the earliest first; none at the ends or
  /// beside a sample without a time (NaN or infinite).
  [[nodiscard]] std::vector<std::size_t> local_minima(std::span<const double> times) const;

 protected:
  void sample(std::vector<double> us, std::vector<double> vs);

 private:
  std::vector<double> us_;
  std::vector<double> vs_;
  std::vector<Spot> samples_;
};

/// Samples the part of the shape that rays between `places` can meet, at about `count` places or more along each parameter. The
/// probe is about `probe`. `shape` is not none.
[[nodiscard]] std::unique_ptr<const SampledShape> sample_shape(const CurveShape& shape, std::span<const Spot> places,
                                                               const Spot& probe, std::size_t count);

}  // namespace echoform::simulated
