#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "simulators/solid_shapes.hpp"

namespace echoform::simulated {
namespace {

/// Below this a profile's end lies on the axis.
constexpr double on_axis = 1e-9;  // m
constexpr std::size_t chords_of_spline = 64;
/// Number of samples of the meridian, by which sides and shadows are determined.
constexpr std::size_t meridian_samples = 512;

/// The profile over the place along the axis. The absolute value of its height is the distance from the axis. The height is
/// negative if the part lies around the axis, and otherwise positive. The profile is closed by flat faces towards the axis, or at
/// the distance `far`. So the part lies below it.
CurveShape meridian_of(const CurveShape& shape, double far) {
  CurveShape meridian;
  meridian.kind = CurveKind::profile;
  std::vector<ProfileKnot> knots = shape.knots;
  if (shape.smooth) {
    CurveShape spline;
    spline.kind = CurveKind::profile;
    spline.smooth = true;
    spline.knots = knots;
    const SampledCurve curve(spline, {}, 2);
    knots.clear();
    const std::size_t chords = (shape.knots.size() - 1) * chords_of_spline;
    for (std::size_t k = 0; k <= chords; ++k) {
      const Place at = curve.at(static_cast<double>(k) / static_cast<double>(chords_of_spline));
      knots.push_back({at.x, at.z, 0.0});
    }
  }
  const double down = shape.inside ? 1.0 : -1.0;
  for (ProfileKnot& knot : knots) {
    knot.z *= down;
    knot.radius *= -down;
  }
  const double end = shape.inside ? far : 0.0;
  if (std::abs(knots.front().z - end) > on_axis) {
    knots.front().radius = 0.0;
    knots.insert(knots.begin(), {knots.front().x, end, 0.0});
  }
  if (std::abs(knots.back().z - end) > on_axis) knots.push_back({knots.back().x, end, 0.0});
  meridian.knots = std::move(knots);
  return meridian;
}

/// Whether a curve bends only towards its lower side, which means that the part is convex.
bool bulges_upwards(const SampledCurve& curve) {
  const std::vector<Place>& at = curve.samples();
  Place before;
  for (std::size_t k = 1; k < at.size(); ++k) {
    const Place now{at[k].x - at[k - 1].x, at[k].z - at[k - 1].z};
    const double size = std::hypot(now.x, now.z);
    if (before.x * now.z - before.z * now.x < -1e-9 * size * std::hypot(before.x, before.z)) return false;
    before = now;
  }
  return true;
}

double farthest(std::span<const Spot> places, const Spot& from) {
  double far = 0.0;
  for (const Spot& place : places) far = std::max(far, distance(place, from));
  return far;
}

class RevolvedShape final : public SampledShape {
 public:
  RevolvedShape(const CurveShape& shape, std::span<const Spot> places, const Spot& probe, std::size_t count)
      : origin_{shape.x, shape.y, shape.z},
        along_{std::cos(shape.dip * degree) * std::sin(shape.turn * degree),
               std::cos(shape.dip * degree) * std::cos(shape.turn * degree), std::sin(shape.dip * degree)},
        down_(shape.inside ? 1.0 : -1.0),
        meridian_(meridian_of(shape, 2.0 * farthest(places, origin_) + reach_of(shape)), {}, meridian_samples),
        convex_(!shape.inside && bulges_upwards(meridian_)) {
    for (std::size_t k = 0; k < meridian_.samples().size(); ++k) {
      const double step = k == 0 ? 0.0 : distance(meridian_.samples()[k], meridian_.samples()[k - 1]);
      lengths_.push_back(k == 0 ? 0.0 : lengths_.back() + step);
      spacing_ = std::max(spacing_, step);
    }
    const Spot to_probe = probe - origin_;
    const Spot away = to_probe - inner(to_probe, along_) * along_;
    first_ = inner(away, away) > on_axis * on_axis ? unit(away) : square_to(along_);
    second_ = outer(along_, first_);
    if (choose_pole(probe, shape.inside)) {
      // Samples about the pole: the distance from it along the profile, and the direction about it.
      const double reach = std::min(lengths_.back(), 1.5 * farthest(places, pole_));
      sample(evenly(-reach, reach, count | 1U), evenly(-reach, reach, count | 1U));
      return;
    }
    // Samples about the axis, from the side that faces the probe, once around with an overlap.
    std::vector<double> us;
    const std::vector<double>& fine = meridian_.parameters();
    for (std::size_t k = 0; k < fine.size(); k += std::max<std::size_t>(1, fine.size() / count)) us.push_back(fine[k]);
    if (us.back() != fine.back()) us.push_back(fine.back());
    const double half = std::numbers::pi * (1.0 + 6.0 / static_cast<double>(count));
    sample(std::move(us), evenly(-half, half, count | 1U));
  }

  [[nodiscard]] Spot at(Parameters2 at) const override {
    const auto [u, angle] = own(at);
    const Place place = meridian_.at(u);
    return origin_ + place.x * along_ + (down_ * place.z) * out(angle);
  }
  [[nodiscard]] Spot normal(Parameters2 at) const override {
    const auto [u, angle] = own(at);
    const Place normal = meridian_.normal(u);
    return normal.x * along_ + (down_ * normal.z) * out(angle);
  }
  [[nodiscard]] double depth_below(const Spot& place) const override {
    const Spot from = place - origin_;
    const double along = inner(from, along_);
    const Spot away = from - along * along_;
    return meridian_.depth_below({along, down_ * std::sqrt(inner(away, away))});
  }
  [[nodiscard]] bool blocks(const Spot& a, const Spot& b) const override {
    if (convex_) return false;
    const double whole = distance(a, b);
    const double near = 2.0 * spacing_;
    if (whole <= 2.0 * near) return false;
    // Up to the distance of the nearest place the side stays the same.
    const Spot way = (1.0 / whole) * (b - a);
    const bool below = depth_below(a + near * way) > 0.0;
    for (double along = near; along < whole - near;) {
      const double depth = depth_below(a + along * way);
      if ((depth > 0.0) != below) return true;
      along += std::max(std::abs(depth), 0.1 * spacing_);
    }
    return false;
  }

 private:
  static double reach_of(const CurveShape& shape) {
    double far = 0.0;
    for (const ProfileKnot& knot : shape.knots) far = std::max(far, std::hypot(knot.x, knot.z));
    return far;
  }
  [[nodiscard]] Spot out(double angle) const { return std::cos(angle) * first_ + std::sin(angle) * second_; }

  /// Parameter of the meridian, and angle about the axis.
  [[nodiscard]] std::pair<double, double> own(Parameters2 at) const {
    if (!about_pole_) return {at.u, at.v};
    const double far = std::min(std::hypot(at.u, at.v), lengths_.back());
    const double length = pole_first_ ? far : lengths_.back() - far;
    const auto next = std::upper_bound(lengths_.begin() + 1, lengths_.end() - 1, length);
    const auto k = static_cast<std::size_t>(next - lengths_.begin());
    const double step = lengths_[k] - lengths_[k - 1];
    const double share = step > 0.0 ? (length - lengths_[k - 1]) / step : 0.0;
    const std::vector<double>& us = meridian_.parameters();
    return {us[k - 1] + share * (us[k] - us[k - 1]), std::atan2(at.v, at.u)};
  }

  /// Whether the surface meets the axis at a pole from which the probe lies within 60 degrees of the axis. For a part the nearer
  /// pole is chosen, for a hollow the farther one. In coordinates about the axis a pole would be a singular place.
  bool choose_pole(const Spot& probe, bool inside) {
    double chosen = 0.0;
    for (const bool first : {true, false}) {
      const Place end = first ? meridian_.samples().front() : meridian_.samples().back();
      if (std::abs(end.z) > 10.0 * on_axis) continue;
      const Spot pole = origin_ + end.x * along_;
      const double far = distance(pole, probe);
      if (std::abs(inner(probe - pole, along_)) < 0.5 * far) continue;
      if (about_pole_ && (inside ? far < chosen : far > chosen)) continue;
      about_pole_ = true;
      pole_first_ = first;
      pole_ = pole;
      chosen = far;
    }
    return about_pole_;
  }

  Spot origin_;
  Spot along_;
  double down_;
  SampledCurve meridian_;
  bool convex_;
  Spot first_;
  Spot second_;
  double spacing_ = 0.0;
  std::vector<double> lengths_;  // lengths along the meridian to its samples
  bool about_pole_ = false;
  bool pole_first_ = true;
  Spot pole_;
};

}  // namespace

std::unique_ptr<const SampledShape> sample_revolved(const CurveShape& shape, std::span<const Spot> places, const Spot& probe,
                                                    std::size_t count) {
  return std::make_unique<const RevolvedShape>(shape, places, probe, count);
}

}  // namespace echoform::simulated
