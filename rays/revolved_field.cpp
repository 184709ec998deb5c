#include "rays/revolved_field.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace echoform {
namespace {

/// The time is stationary at rays, so errors of their places enter squared. These margins leave less than 1e-15 s.
constexpr double slope_margin = 1e-11;  ///< slope, relative to that of the first leg
constexpr double angle_margin = 1e-9;   ///< Newton step in radians; its error is its square
/// The margin of angles where only the sign of the slope matters.
constexpr double search_margin = 1e-4;

/// Source and point in coordinates of the axis; the source is at angle 0.
struct RevolvedEnds {
  AxisPlace source;
  AxisPlace point;
  double apart = 0.0;   ///< angle from the source to the point, 0 to pi
  double before = 0.0;  ///< slowness on the path to the surface, s/m
  double after = 0.0;   ///< slowness behind it, s/m
};

double angle_between(Vector3 a, Vector3 b) {
  return std::atan2(length(cross(a, b)), dot(a, b));
}

/// The time over a place of the surface, and its derivatives.
struct RevolvedTime {
  double time;
  double along;      ///< derivative along the axis, s/m
  double out;        ///< derivative by the distance from the axis, s/m
  double turn;       ///< derivative by the angle, s
  double turn_bend;  ///< second derivative by the angle, s
};

RevolvedTime time_over(const RevolvedEnds& ends, double along, double out, double angle) {
  RevolvedTime sum{};
  const auto add = [&](const AxisPlace& end, double slowness, double to) {
    const double flat = along - end.along;
    // |r - end|^2 with the half planes `to` apart, in a form that does not cancel where the end is near.
    const double beside = out - end.out;
    const double half = std::sin(0.5 * to);
    const double sine = 2.0 * half * std::cos(0.5 * to);
    const double cosine = 1.0 - 2.0 * half * half;
    const double far = std::sqrt(flat * flat + beside * beside + 4.0 * out * end.out * half * half + 1e-30);
    const double weight = slowness / far;
    const double lever = out * end.out * sine;
    sum.time += slowness * far;
    sum.along += weight * flat;
    sum.out += weight * (beside + 2.0 * end.out * half * half);
    sum.turn += weight * lever;
    sum.turn_bend += weight * (out * end.out * cosine - lever * lever / (far * far));
  };
  add(ends.source, ends.before, angle);
  add(ends.point, ends.after, angle - ends.apart);
  return sum;
}

/// The angle at which the time is shortest for a place of the profile, searched from an angle nearby. The slope changes from
/// minus at the source's angle to plus at the point's.
double least_angle(const RevolvedEnds& ends, double along, double out, double near, double margin) {
  double low = 0.0;
  double high = ends.apart;
  if (!(high > 0.0)) return 0.0;
  if (out == 0.0) {
    // On the axis the time is the same at all angles; away from there it falls most steeply at this one.
    const double to_source = ends.before * ends.source.out / std::hypot(along - ends.source.along, ends.source.out);
    const double to_point = ends.after * ends.point.out / std::hypot(along - ends.point.along, ends.point.out);
    return std::atan2(to_point * std::sin(high), to_source + to_point * std::cos(high));
  }
  double angle = std::clamp(near, low, high);
  for (int step = 0; step < 60; ++step) {
    const RevolvedTime now = time_over(ends, along, out, angle);
    (now.turn < 0.0 ? low : high) = angle;
    double next = angle - now.turn / now.turn_bend;
    if (!(now.turn_bend > 0.0 && next > low && next < high)) next = 0.5 * (low + high);
    if (std::abs(next - angle) <= margin) return next;
    angle = next;
  }
  return angle;
}

class RevolvedField final : public RayField {
 public:
  RevolvedField(const RayPath& path, std::vector<Point> sources, const RevolvedSurface& surface)
      : path_(path), sources_(std::move(sources)), surface_(surface) {
    const auto& nodes = surface_.meridian().nodes();
    reach_.resize(nodes.size());
    for (std::size_t j = 1; j < nodes.size(); ++j)
      reach_[j] = length(nodes[j].at - nodes[j - 1].at) + 2.0 * surface_.meridian().sag(j - 1);
  }

  [[nodiscard]] std::string_view name() const noexcept override { return "revolved"; }
  [[nodiscard]] Portion portion() const noexcept override { return {1, 512}; }
  [[nodiscard]] const RayPath& path() const noexcept override { return path_; }
  [[nodiscard]] const std::vector<Point>& sources() const noexcept override { return sources_; }

  void times(std::size_t first, std::size_t last, std::span<const Point> points, std::span<double> seconds) const override {
    RevolvedEnds ends;
    ends.before = 1.0 / path_.velocities[0].value;
    ends.after = 1.0 / path_.velocities[1].value;
    for (std::size_t source = first; source < last; ++source) {
      const Vector3 from = vector_of(sources_[source]);
      ends.source = surface_.place_of(from);
      std::size_t piece = 0;
      for (std::size_t k = 0; k < points.size(); ++k) {
        const Vector3 to = vector_of(points[k]);
        ends.point = surface_.place_of(to);
        const bool turned = ends.source.out > 0.0 && ends.point.out > 0.0;
        ends.apart = turned ? angle_between(ends.source.away, ends.point.away) : 0.0;
        seconds[(source - first) * points.size() + k] = least_time(ends, from, to, piece);
      }
    }
  }

 private:
  /// Slope of the time along the profile, in its half plane.
  [[nodiscard]] double slope(const RevolvedTime& time, Vector2 along) const {
    return time.along * along.x + surface_.down() * time.out * along.z;
  }

  /// Neighbouring points have rays over neighbouring places, so the search looks first at `piece`, where the last place was
  /// found. It skips pieces whose distances in the half plane alone take longer than the known time.
  [[nodiscard]] double least_time(const RevolvedEnds& ends, Vector3 from, Vector3 to, std::size_t& piece) const {
    const Surface& meridian = surface_.meridian();
    const auto& nodes = meridian.nodes();
    double least = std::numeric_limits<double>::quiet_NaN();
    double angle = 0.5 * ends.apart;
    const auto look_between = [&](std::size_t j, double angle_low) {
      const double found = time_between(ends, nodes[j - 1].place, nodes[j].place, angle_low, from, to, least);
      if (std::isnan(found)) return;
      least = found;
      piece = j;
    };
    const auto slope_at = [&](std::size_t j) {
      const double out = std::abs(nodes[j].at.z);
      angle = least_angle(ends, nodes[j].at.x, out, angle, search_margin);
      return slope(time_over(ends, nodes[j].at.x, out, angle), nodes[j].tangent);
    };
    const std::size_t first = piece;
    if (first > 0 && slope_at(first - 1) < 0.0) {
      const double angle_low = angle;
      if (slope_at(first) >= 0.0) look_between(first, angle_low);
    }
    std::size_t known = 0;  // 1 more than the node whose slope is `before`
    double before = 0.0;
    for (std::size_t j = 1; j < nodes.size(); ++j) {
      if (j == first || nodes[j - 1].place.segment != nodes[j].place.segment) continue;
      const auto bound = [&](const AxisPlace& end, double slowness) {
        const double flat = nodes[j].at.x - end.along;
        const double beside = std::abs(nodes[j].at.z) - end.out;
        return slowness * (std::sqrt(flat * flat + beside * beside) - reach_[j]);
      };
      if (!std::isnan(least) && bound(ends.source, ends.before) + bound(ends.point, ends.after) > least) continue;
      if (known != j) before = slope_at(j - 1);
      const double angle_low = angle;
      const double here = slope_at(j);
      if (before < 0.0 && here >= 0.0) look_between(j, angle_low);
      before = here;
      known = j + 1;
    }
    return least;
  }

  /// Time of the ray between two nodes if it is a ray and faster than `known`; else NaN.
  [[nodiscard]] double time_between(const RevolvedEnds& ends, SurfacePlace low, SurfacePlace high, double angle, Vector3 from,
                                    Vector3 to, double known) const {
    const Surface& meridian = surface_.meridian();
    double begin = low.t;
    double end = high.t;
    // Regula falsi with halved weights (the Illinois algorithm), and halving where it is slow.
    CurvePoint place{};
    RevolvedTime time{};
    const auto look = [&](double t) {
      place = meridian.point({low.segment, t});
      angle = least_angle(ends, place.at.x, std::abs(place.at.z), angle, angle_margin);
      time = time_over(ends, place.at.x, std::abs(place.at.z), angle);
      return slope(time, place.first);
    };
    double slope_begin = look(begin);
    double slope_end = look(end);
    double t = end;
    for (int step = 0; step < 100 && end - begin > 1e-14; ++step) {
      t = step % 8 == 7 || !(slope_begin < 0.0 && slope_end > 0.0)
              ? 0.5 * (begin + end)
              : begin + (end - begin) * slope_begin / (slope_begin - slope_end);
      const double here = look(t);
      if (std::abs(here) <= slope_margin * ends.before * length(place.first)) break;
      if (here < 0.0) {
        begin = t;
        slope_begin = here;
        slope_end *= 0.5;
      } else {
        end = t;
        slope_end = here;
        slope_begin *= 0.5;
      }
    }
    if (!(std::isnan(known) || time.time < known)) return std::numeric_limits<double>::quiet_NaN();
    return goes_through(ends, place, angle, from, to) ? time.time : std::numeric_limits<double>::quiet_NaN();
  }

  /// Whether source and point lie on their sides of the tangent plane, and the paths to the place are free.
  [[nodiscard]] bool goes_through(const RevolvedEnds& ends, const CurvePoint& place, double angle, Vector3 from,
                                  Vector3 to) const {
    // Direction into the part, in the half plane of the place.
    const Vector2 inwards{-place.first.z, place.first.x};
    const double out = std::abs(place.at.z);
    const auto side = [&](const AxisPlace& end, double to_end) {
      return inwards.x * (end.along - place.at.x) + surface_.down() * inwards.z * (end.out * std::cos(to_end) - out);
    };
    if (!(side(ends.source, angle) <= 0.0 && side(ends.point, angle - ends.apart) >= 0.0)) return false;
    if (surface_.convex()) return true;
    const Vector3 at = place_at(ends, place, angle, from);
    return way_is_free(from, at, -1.0) && way_is_free(to, at, 1.0);
  }

  /// The place in space. The angle leads from the source's half plane towards the point's.
  [[nodiscard]] Vector3 place_at(const RevolvedEnds& ends, const CurvePoint& place, double angle, Vector3 from) const {
    const Vector3 foot = from - ends.source.away;  // on the axis
    const Vector3 axis = surface_.axis().along;
    // Where an end lies on the axis, all half planes are equivalent.
    const Vector3 one = ends.source.out > 0.0 ? unit_of(ends.source.away)
                        : ends.point.out > 0.0
                            ? unit_of(ends.point.away)
                            : unit_of(cross(axis, std::abs(axis.x) < 0.9 ? Vector3{1.0, 0.0, 0.0} : Vector3{0.0, 1.0, 0.0}));
    const Vector3 two = cross(axis, one);
    const double turn = dot(ends.point.away, two) >= 0.0 ? angle : -angle;
    return foot + (place.at.x - ends.source.along) * axis + std::abs(place.at.z) * (std::cos(turn) * one + std::sin(turn) * two);
  }

  /// Whether the path to a place of the surface stays on its side, except for the last 1e-7 m. A step as long as the distance
  /// from the surface is always free.
  [[nodiscard]] bool way_is_free(Vector3 from, Vector3 at, double side) const {
    constexpr double end_margin = 1e-7;
    const double whole = length(at - from);
    if (!(whole > end_margin)) return true;
    const Vector3 way = (1.0 / whole) * (at - from);
    double far = 0.0;
    for (int step = 0; step < 4096; ++step) {
      const double distance = side * surface_.signed_distance(from + far * way);
      if (!(distance > 0.0)) return false;
      far += std::max(distance, 1e-9);
      if (far >= whole - end_margin) return true;
    }
    return false;
  }

  RayPath path_;
  std::vector<Point> sources_;
  const RevolvedSurface& surface_;
  std::vector<double> reach_;  // [node], largest distance from it of the places of the piece that ends there, m
};

}  // namespace

std::unique_ptr<RayField> make_revolved_field(const RayPath& path, std::vector<Point> sources, const RevolvedSurface& surface) {
  return std::make_unique<RevolvedField>(path, std::move(sources), surface);
}

}  // namespace echoform
