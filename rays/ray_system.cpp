#include "rays/ray_system.hpp"

#include <algorithm>
#include <cmath>

namespace echoform::rays {
namespace {

constexpr int most_steps = 60;
/// Tolerance of places, metres. T is stationary there, so places this near give times to 1e-15 s and better.
constexpr double place_tolerance = 1e-11;
/// Largest slope of T per metre at a ray, as a part of the slowness; it allows for rounding.
constexpr double slope_tolerance = 1e-7;
/// Steps are kept below this part of the path to either side, where the quadratic approximation holds.
constexpr double step_limit = 0.5;

}  // namespace

void System::begin(const RayPath& path, std::span<const double> slowness, Vector2 source, Vector2 point, const Places& start) {
  path_ = &path;
  slowness_ = slowness;
  count_ = path.interfaces.size();
  source_ = source;
  target_ = point;
  places_ = start;
  evaluate();
}

void System::set_slowness(std::span<const double> slowness) {
  slowness_ = slowness;
  evaluate();
}

void System::evaluate() {
  Vector2 from = source_;
  time_ = 0.0;
  for (std::size_t k = 0; k < count_; ++k) points_[k] = surface(k).point(places_[k]);
  for (std::size_t leg = 0; leg <= count_; ++leg) {
    const Vector2 to = leg < count_ ? points_[leg].at : target_;
    const Vector2 way = to - from;
    lengths_[leg] = length(way);
    ways_[leg] = lengths_[leg] > 0.0 ? (1.0 / lengths_[leg]) * way : Vector2{};
    time_ += slowness_[leg] * lengths_[leg];
    from = to;
  }
}

System::Slope System::slope() const {
  Slope slope;
  // Shorter legs count as legs of this length, else their bend would be unbounded.
  const auto bend = [this](std::size_t leg, Vector2 a, Vector2 b) {
    const double length = std::max(lengths_[leg], 1e-12);
    return slowness_[leg] * (dot(a, b) - dot(a, ways_[leg]) * dot(b, ways_[leg])) / length;
  };
  for (std::size_t k = 0; k < count_; ++k) {
    const CurvePoint& p = points_[k];
    const Vector2 pull = slowness_[k] * ways_[k] - slowness_[k + 1] * ways_[k + 1];
    slope.first[k] = dot(p.first, pull);
    slope.second[k] = dot(p.second, pull) + bend(k, p.first, p.first) + bend(k + 1, p.first, p.first);
    if (k + 1 < count_) slope.mixed[k] = -bend(k + 1, p.first, points_[k + 1].first);
  }
  return slope;
}

/// Newton's step where T bends upwards; elsewhere a step downhill along each coordinate.
std::array<double, most_interfaces> System::newton_step(const Slope& slope,
                                                        const std::array<bool, most_interfaces>& fixed) const {
  std::array<double, most_interfaces> pivot{};
  std::array<double, most_interfaces> right{};
  std::array<double, most_interfaces> step{};
  bool upwards = true;
  for (std::size_t k = 0; k < count_; ++k) {
    const bool tied = k > 0 && !fixed[k] && !fixed[k - 1];
    const double factor = tied ? slope.mixed[k - 1] / pivot[k - 1] : 0.0;
    pivot[k] = fixed[k] ? 1.0 : slope.second[k] - (tied ? factor * slope.mixed[k - 1] : 0.0);
    right[k] = fixed[k] ? 0.0 : -slope.first[k] - (tied ? factor * right[k - 1] : 0.0);
    if (!(pivot[k] > 0.0)) upwards = false;
    if (!upwards) break;
  }
  if (upwards) {
    for (std::size_t k = count_; k-- > 0;) {
      const bool tied = k + 1 < count_ && !fixed[k] && !fixed[k + 1];
      step[k] = (right[k] - (tied ? slope.mixed[k] * step[k + 1] : 0.0)) / pivot[k];
    }
  } else {
    for (std::size_t k = 0; k < count_; ++k) {
      if (fixed[k]) continue;
      const double bend = std::max(std::abs(slope.second[k]), 1e-30);
      step[k] = -slope.first[k] / bend;
    }
  }
  // One factor shortens all steps: shortened one by one they might lead uphill.
  double part = 1.0;
  for (std::size_t k = 0; k < count_; ++k) {
    const double most = step_limit * std::min(lengths_[k], lengths_[k + 1]) + place_tolerance;
    const double metres = std::abs(step[k]) * length(points_[k].first);
    if (metres > most) part = std::min(part, most / metres);
  }
  for (std::size_t k = 0; k < count_; ++k) step[k] *= part;
  return step;
}

/// The place `step` further along the surface. It passes smooth joints and stops at corners and ends.
SurfacePlace System::moved(std::size_t k, double step) const {
  const Surface& s = surface(k);
  SurfacePlace place = places_[k];
  double t = place.t + step;
  for (std::size_t hops = 0; hops <= s.segments().size(); ++hops) {
    const auto last = static_cast<std::uint32_t>(s.segments().size() - 1);
    if (t > 1.0) {
      if (!s.smooth_after(place.segment)) return {place.segment, 1.0};
      const std::uint32_t next = place.segment == last ? 0 : place.segment + 1;
      t = (t - 1.0) * length(s.point({place.segment, 1.0}).first) / length(s.point({next, 0.0}).first);
      place.segment = next;
    } else if (t < 0.0) {
      const std::uint32_t before = place.segment == 0 ? last : place.segment - 1;
      if (!s.smooth_after(before)) return {place.segment, 0.0};
      t = 1.0 + t * length(s.point({place.segment, 0.0}).first) / length(s.point({before, 1.0}).first);
      place.segment = before;
    } else {
      return {place.segment, t};
    }
  }
  return {place.segment, std::clamp(t, 0.0, 1.0)};
}

/// Whether the shortest time lies beyond the end of the segment at which the place is.
bool System::held(std::size_t k, double slope) const {
  return (places_[k].t >= 1.0 && slope < 0.0) || (places_[k].t <= 0.0 && slope > 0.0);
}

/// Passes a corner if the time still falls behind it.
bool System::pass_corner(std::size_t k, double slope) {
  const Surface& s = surface(k);
  const auto last = static_cast<std::uint32_t>(s.segments().size() - 1);
  const SurfacePlace here = places_[k];
  const bool forward = slope < 0.0;
  if (!s.closed() && here.segment == (forward ? last : 0)) return false;
  SurfacePlace there;
  if (forward) {
    there = {here.segment == last ? 0 : here.segment + 1, 0.0};
  } else {
    there = {here.segment == 0 ? last : here.segment - 1, 1.0};
  }
  const Vector2 pull = slowness_[k] * ways_[k] - slowness_[k + 1] * ways_[k + 1];
  const double behind = dot(s.point(there).first, pull);
  if (forward ? behind >= 0.0 : behind <= 0.0) return false;
  places_[k] = there;
  points_[k] = s.point(there);
  return true;
}

bool System::solve() {
  std::array<bool, most_interfaces> fixed{};
  for (int count = 0; count < most_steps; ++count) {
    Slope now = slope();
    bool turned = false;
    for (std::size_t k = 0; k < count_; ++k) {
      fixed[k] = surface(k).is_sampled();
      if (fixed[k] || !held(k, now.first[k])) continue;
      if (pass_corner(k, now.first[k])) {
        turned = true;
      } else {
        fixed[k] = true;
      }
    }
    if (turned) {
      evaluate();
      continue;
    }
    auto step = newton_step(now, fixed);
    const Places before = places_;
    const double time_before = time_;
    double longest = 0.0;
    for (std::size_t k = 0; k < count_; ++k) longest = std::max(longest, std::abs(step[k]) * length(points_[k].first));
    for (int halvings = 0; halvings < 30; ++halvings) {
      for (std::size_t k = 0; k < count_; ++k) {
        places_[k] = before[k];
        if (!fixed[k]) places_[k] = moved(k, step[k]);
      }
      evaluate();
      if (time_ <= time_before * (1.0 + 1e-14)) break;
      for (double& s : step) s *= 0.5;
      longest *= 0.5;
    }
    if (longest < place_tolerance) break;
  }
  const Slope last = slope();
  for (std::size_t k = 0; k < count_; ++k) {
    if (surface(k).is_sampled()) continue;
    const double metre = length(points_[k].first);
    if (std::abs(last.first[k]) > slope_tolerance * std::max(slowness_[k], slowness_[k + 1]) * metre) return false;
  }
  return true;
}

bool System::solve_between(SurfacePlace low, SurfacePlace high) {
  const auto slope_at = [this](SurfacePlace place) {
    places_[0] = place;
    evaluate();
    return slope();
  };
  if (slope_at(low).first[0] > 0.0 || slope_at(high).first[0] < 0.0) return false;
  double t = 0.5 * (low.t + high.t);
  double last_step = high.t - low.t;
  for (int step = 0; step < most_steps; ++step) {
    const Slope now = slope_at({low.segment, t});
    (now.first[0] < 0.0 ? low.t : high.t) = t;
    double next = t - now.first[0] / now.second[0];
    // Just below a surface the slope is a step, on whose flat sides Newton's method is slow: its steps have to halve.
    const bool slow = std::abs(next - t) > 0.5 * last_step;
    if (!(now.second[0] > 0.0 && next > low.t && next < high.t) || slow) next = 0.5 * (low.t + high.t);
    last_step = std::abs(next - t);
    const double metres = last_step * length(points_[0].first);
    t = next;
    if (metres < place_tolerance) break;
  }
  places_[0] = {low.segment, t};
  evaluate();
  return true;
}

}  // namespace echoform::rays
