#include "simulators/sampled_shape.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numbers>
#include <utility>

#include "simulators/solid_shapes.hpp"

namespace echoform::simulated {
namespace {

/// Right-handed axes of length 1.
struct Axes {
  Spot origin;
  Spot x{1.0, 0.0, 0.0};
  Spot y{0.0, 1.0, 0.0};
  Spot z{0.0, 0.0, 1.0};

  [[nodiscard]] Spot into(const Spot& place) const {
    const Spot from = place - origin;
    return {inner(from, x), inner(from, y), inner(from, z)};
  }
  [[nodiscard]] Spot out_of(const Spot& own) const { return origin + own.x * x + own.y * y + own.z * z; }
  [[nodiscard]] Spot turned(const Spot& own) const { return own.x * x + own.y * y + own.z * z; }
};

/// A shape's axes, and the curve that remains of the shape in these axes.
std::pair<Axes, CurveShape> in_axes(const CurveShape& shape) {
  Axes axes;
  CurveShape own = shape;
  own.angle_across = own.turn = own.dip = 0.0;
  if (shape.kind == CurveKind::plane && shape.angle_across != 0.0) {
    const Spot along = unit({1.0, 0.0, std::tan(shape.angle * degree)});
    axes.origin = {0.0, 0.0, shape.z};
    axes.z = unit({-std::tan(shape.angle * degree), -std::tan(shape.angle_across * degree), 1.0});
    axes.x = along;
    axes.y = outer(axes.z, axes.x);
    own.angle = own.z = 0.0;
  } else if (shape.kind == CurveKind::cylinder && (shape.turn != 0.0 || shape.dip != 0.0)) {
    const double level = std::cos(shape.dip * degree);
    axes.origin = {shape.x, shape.y, shape.z};
    axes.y = {level * std::sin(shape.turn * degree), level * std::cos(shape.turn * degree), std::sin(shape.dip * degree)};
    axes.x = unit(outer(axes.y, {0.0, 0.0, 1.0}));
    axes.z = outer(axes.x, axes.y);
    own.x = own.z = 0.0;
  }
  own.y = 0.0;
  return {axes, own};
}

/// Number of samples of a drawn curve, by which sides and shadows are determined.
constexpr std::size_t fine_samples = 1024;

/// A curve that is drawn out along an axis: planes, cylinders, profiles. u is the curve's parameter, v the place along the axis.
class DrawnShape final : public SampledShape {
 public:
  DrawnShape(const CurveShape& shape, std::span<const Spot> places, std::size_t count)
      : axes_(in_axes(shape).first), curve_(in_axes(shape).second, own_plane(places), fine_samples) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (const Spot& place : places) {
      const double along = axes_.into(place).y;
      low = std::min(low, along);
      high = std::max(high, along);
    }
    // Nothing breaks the symmetry along the axis, so no ray leaves the stretch between its ends. With the margin, a ray at an end
    // lies between two samples.
    const double margin = 0.1 * (high - low) + 1e-3;
    const std::vector<double>& fine = curve_.parameters();
    std::vector<double> us;
    for (std::size_t k = 0; k < fine.size(); k += std::max<std::size_t>(1, fine_samples / count)) us.push_back(fine[k]);
    if (us.back() != fine.back()) us.push_back(fine.back());
    sample(std::move(us), evenly(low - margin, high + margin, count));
  }

  [[nodiscard]] Spot at(Parameters2 at) const override {
    const Place place = curve_.at(at.u);
    return axes_.out_of({place.x, at.v, place.z});
  }
  [[nodiscard]] Spot normal(Parameters2 at) const override {
    const Place normal = curve_.normal(at.u);
    return axes_.turned({normal.x, 0.0, normal.z});
  }
  [[nodiscard]] double depth_below(const Spot& place) const override { return curve_.depth_below(in_plane(axes_.into(place))); }
  [[nodiscard]] bool blocks(const Spot& a, const Spot& b) const override {
    return !curve_.straight() && curve_.blocks(in_plane(axes_.into(a)), in_plane(axes_.into(b)));
  }

 private:
  [[nodiscard]] std::vector<Place> own_plane(std::span<const Spot> places) const {
    std::vector<Place> found;
    found.reserve(places.size());
    for (const Spot& place : places) found.push_back(in_plane(axes_.into(place)));
    return found;
  }

  Axes axes_;
  SampledCurve curve_;
};

/// A ball or a hollow, by stereographic projection from the place that lies farthest from the probe. It covers nearly all of the
/// surface, without a pole among the places that rays meet.
class SphereShape final : public SampledShape {
 public:
  SphereShape(const CurveShape& shape, const Spot& probe, std::size_t count)
      : centre_{shape.x, shape.y, shape.z + (shape.inside ? -shape.radius : shape.radius)},
        radius_(shape.radius),
        facing_(shape.inside ? 1.0 : -1.0) {
    const Spot away = centre_ - probe;
    // z points away from the probe, as the normals there do. For a hollow it points down, since rays meet the hollow's far side,
    // which lies below.
    const bool apart = inner(away, away) > 1e-12;
    axes_.z = apart ? unit(away) : Spot{0.0, 0.0, 1.0};
    if (shape.inside) axes_.z = {0.0, 0.0, 1.0};
    axes_.x = square_to(axes_.z);
    axes_.y = outer(axes_.z, axes_.x);
    axes_.origin = centre_;
    // The tangent of half the angle from the middle. A ball shows the probe less than half of its surface; in a hollow rays go to
    // either side.
    const double reach = shape.inside ? 2.5 : 1.2;
    sample(evenly(-reach, reach, count), evenly(-reach, reach, count));
  }

  [[nodiscard]] Spot at(Parameters2 at) const override { return axes_.out_of(radius_ * out(at)); }
  [[nodiscard]] Spot normal(Parameters2 at) const override { return facing_ * axes_.turned(out(at)); }
  [[nodiscard]] double depth_below(const Spot& place) const override { return facing_ * (distance(place, centre_) - radius_); }
  [[nodiscard]] bool blocks(const Spot& a, const Spot& b) const override {
    // The straight line enters or leaves at its two intersections with the sphere, unless an intersection is one of its ends.
    const double whole = distance(a, b);
    if (!(whole > 0.0)) return false;
    const Spot way = (1.0 / whole) * (b - a);
    const double nearest = inner(centre_ - a, way);
    const Spot off = a + nearest * way - centre_;
    const double half_squared = radius_ * radius_ - inner(off, off);
    if (!(half_squared > 0.0)) return false;
    const double half = std::sqrt(half_squared);
    const double near = 1e-3 * radius_;
    return std::ranges::any_of(std::array{nearest - half, nearest + half},
                               [&](double along) { return along > near && along < whole - near; });
  }

 private:
  /// A direction in the own axes, on the ball of radius 1: -z in the middle, and z in the middle of a hollow.
  [[nodiscard]] Spot out(Parameters2 at) const {
    const double squared = at.u * at.u + at.v * at.v;
    const double scale = 1.0 / (1.0 + squared);
    return {2.0 * at.u * scale, 2.0 * at.v * scale, facing_ * (1.0 - squared) * scale};
  }

  Spot centre_;
  double radius_;
  double facing_;
  Axes axes_;
};

}  // namespace

std::vector<double> evenly(double first, double last, std::size_t count) {
  std::vector<double> numbers;
  for (std::size_t k = 0; k < count; ++k)
    numbers.push_back(first + (last - first) * static_cast<double>(k) / static_cast<double>(count - 1));
  return numbers;
}

void SampledShape::sample(std::vector<double> us, std::vector<double> vs) {
  us_ = std::move(us);
  vs_ = std::move(vs);
  samples_.reserve(us_.size() * vs_.size());
  for (const double v : vs_) {
    for (const double u : us_) samples_.push_back(at({u, v}));
  }
}

Parameters2 SampledShape::spacing(std::size_t sample) const {
  const auto between = [](const std::vector<double>& numbers, std::size_t k) {
    return 0.5 * (numbers[std::min(k + 1, numbers.size() - 1)] - numbers[k > 0 ? k - 1 : 0]);
  };
  return {between(us_, sample % us_.size()), between(vs_, sample / us_.size())};
}

std::vector<std::size_t> SampledShape::local_minima(std::span<const double> times) const {
  std::vector<std::size_t> minima;
  const std::size_t row = us_.size();
  for (std::size_t j = 1; j + 1 < vs_.size(); ++j) {
    for (std::size_t i = 1; i + 1 < row; ++i) {
      const std::size_t k = j * row + i;
      const double here = times[k];
      if (!(here <= times[k - 1] && here <= times[k + 1] && here <= times[k - row] && here <= times[k + row])) continue;
      if (!(here <= times[k - row - 1] && here <= times[k - row + 1] && here <= times[k + row - 1] && here <= times[k + row + 1]))
        continue;
      if (std::isfinite(here)) minima.push_back(k);
    }
  }
  std::sort(minima.begin(), minima.end(), [&](std::size_t a, std::size_t b) { return times[a] < times[b]; });
  return minima;
}

std::unique_ptr<const SampledShape> sample_shape(const CurveShape& shape, std::span<const Spot> places, const Spot& probe,
                                                 std::size_t count) {
  if (shape.kind == CurveKind::sphere) return std::make_unique<const SphereShape>(shape, probe, count);
  if (shape.kind == CurveKind::revolved) return sample_revolved(shape, places, probe, count);
  if (shape.kind == CurveKind::mesh) return sample_mesh(shape, places, probe, count);
  return std::make_unique<const DrawnShape>(shape, places, count);
}

}  // namespace echoform::simulated
