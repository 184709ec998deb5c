// Rays through and off curves that are drawn out along y, whose ends lie apart along y: fields against least times by brute
// force, and against the general solver, which goes there from the ray in the plane.
#include "rays/across_math.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numbers>
#include <vector>

#include "rays/ray_field.hpp"
#include "rays/surface_kind.hpp"
#include "tests/rays/brute_force.hpp"

namespace echoform::across_test {
namespace {

constexpr double pi = std::numbers::pi;

Point at(double x, double y, double z) {
  return {Metres(x), Metres(y), Metres(z)};
}

std::shared_ptr<const Surface> surface_of(std::vector<Segment> segments) {
  return std::make_shared<const Surface>("surface", std::move(segments));
}

RayPath through(std::shared_ptr<const Surface> surface, double c1, double c2) {
  return {{MetresPerSecond(c1), MetresPerSecond(c2)}, {{std::move(surface), false, false}}};
}

/// Points by rows along x, as a volume has them, so that few planes are those of a source.
std::vector<Point> volume(Vector3 low, Vector3 high, int count) {
  std::vector<Point> points;
  for (int k = 0; k < count * count * count; ++k) {
    const auto part = [&](int which) { return static_cast<double>(which) / (count - 1); };
    points.push_back(at(low.x + (high.x - low.x) * part(k % count), low.y + (high.y - low.y) * part(k / count % count),
                        low.z + (high.z - low.z) * part(k / count / count)));
  }
  return points;
}

/// u in 0 .. 1, in the plane, and which side of its direction of travel sources and points must lie on: 1 to its right as one
/// sees it on the screen, -1 to its left.
struct Reference {
  std::function<Vector2(double u)> curve;
  double source_side = -1.0;
  double point_side = 1.0;
  bool shadows = false;
  int samples = 400;
};

/// By y the time is convex. Halved 32 times, the way lacks 1e-11 m, and the time, stationary there, the square of that.
double least_across(double height, double depth, double far, double before, double after) {
  const auto leg = [](double a, double b) { return std::sqrt(a * a + b * b); };
  double low = 0.0, high = far;
  for (int step = 0; step < 32; ++step) {
    const double y = 0.5 * (low + high);
    (before * y * leg(depth, far - y) < after * (far - y) * leg(height, y) ? low : high) = y;
  }
  return before * leg(height, low) + after * leg(depth, far - low);
}

/// Of all local minima along the curve, by golden sections, the least that is a ray. NaN: there is none.
double least_ray(const Reference& over, const Point& from, const Point& to, double before, double after) {
  const Vector2 source{from.x.value, from.z.value}, point{to.x.value, to.z.value};
  const double far = std::abs(to.y.value - from.y.value);
  const auto time = [&](double u) {
    const Vector2 place = over.curve(u);
    return least_across(length(place - source), length(point - place), far, before, after);
  };
  std::vector<double> times;
  for (int k = 0; k <= over.samples; ++k) times.push_back(time(static_cast<double>(k) / over.samples));
  double least = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t k = 1; k + 1 < times.size(); ++k) {
    if (times[k] > times[k - 1] || times[k] > times[k + 1]) continue;
    double low = static_cast<double>(k - 1) / over.samples, high = static_cast<double>(k + 1) / over.samples;
    const double golden = 0.6180339887498949;
    for (int step = 0; step < 40; ++step) {
      const double left = high - golden * (high - low), right = low + golden * (high - low);
      (time(left) < time(right) ? high : low) = time(left) < time(right) ? right : left;
    }
    const double u = 0.5 * (low + high);
    const double found = time(u);
    if (found >= least) continue;
    const Vector2 place = over.curve(u);
    const Vector2 along = over.curve(u + 1e-6) - over.curve(u - 1e-6);
    if (over.source_side * cross(along, source - place) < 0.0 || over.point_side * cross(along, point - place) < 0.0) continue;
    const auto plain = [](Vector2 p) { return brute::Place{p.x, p.z, 0}; };
    const brute::Curve curve = [&](long double v) { return plain(over.curve(static_cast<double>(v))); };
    if (over.shadows && (brute::obstructed(plain(source), plain(place), curve, 4000) ||
                         brute::obstructed(plain(place), plain(point), curve, 4000)))
      continue;
    least = found;
  }
  return least;
}

TEST(AcrossMath, HasTheDerivativesOfItsTime) {
  const rays::CurvePiece piece{{0.0, 0.0}, {2e-3, 1e-4}, {1e-4, -2e-4}, {3e-5, 1e-5}, 0.02};
  const rays::CrossingEnds ends{{-3e-3, -0.01}, {4e-3, 0.02}, 1.0 / 1480.0, 1.0 / 6320.0};
  constexpr double across = 7e-3, step_t = 1e-4, step_y = 1e-7;
  for (const double t : {0.1, 0.5, 0.9}) {
    for (const double y : {0.0, 2e-3, 6e-3}) {
      const auto now = rays::across_at(piece, ends, across, t, y);
      const auto before = rays::across_at(piece, ends, across, t - step_t, y);
      const auto after = rays::across_at(piece, ends, across, t + step_t, y);
      const auto nearer = rays::across_at(piece, ends, across, t, y - step_y);
      const auto further = rays::across_at(piece, ends, across, t, y + step_y);
      // Central differences lack step^2 / 6 of the derivative after next; over lengths of 10 mm that is 1e-9 of y's.
      EXPECT_NEAR((after.time - before.time) / (2.0 * step_t), now.slope_t, 1e-7 * std::abs(now.slope_t) + 1e-13);
      EXPECT_NEAR((further.time - nearer.time) / (2.0 * step_y), now.slope_y, 1e-12);
      EXPECT_NEAR((after.slope_t - before.slope_t) / (2.0 * step_t), now.bend_t, 1e-6 * std::abs(now.bend_t));
      EXPECT_NEAR((further.slope_y - nearer.slope_y) / (2.0 * step_y), now.bend_y, 1e-6 * now.bend_y);
      EXPECT_NEAR((after.slope_y - before.slope_y) / (2.0 * step_t), now.bend_both, 1e-6 * std::abs(now.bend_both) + 1e-10);
      EXPECT_NEAR((further.slope_t - nearer.slope_t) / (2.0 * step_y), now.bend_both, 1e-6 * std::abs(now.bend_both) + 1e-10);
    }
  }
}

/// What a field owes, and golden sections beside a surface: they end where rounding hides the time's slope.
constexpr double tolerance = 1e-12;
/// The solver goes on to rounding too.
constexpr double solved = 1e-15;

/// Every ray of the field is the least one. The field may miss what the solver misses: rays with none in the plane below them.
void expect_least(const RayPath& path, const Reference& over, const std::vector<Point>& sources, const std::vector<Point>& points,
                  std::size_t least_count, std::size_t most_missed = 0) {
  ASSERT_EQ(make_ray_field(path, sources)->name(), "curve");
  const double before = 1.0 / path.velocities[0].value, after = 1.0 / path.velocities[1].value;
  std::vector<double> expected;
  std::vector<double> solver;
  for (const Point& source : sources) {
    RaySolver one(path, source);
    for (const Point& point : points) {
      expected.push_back(least_ray(over, source, point, before, after));
      solver.push_back(one.time_to(point));
    }
  }
  for (const SimdLevel level : {SimdLevel::portable, SimdLevel::avx2, SimdLevel::avx512}) {
    if (level > simd_level()) continue;
    std::vector<double> seconds(expected.size(), -1.0);
    make_ray_field(path, sources, level)->times(0, sources.size(), points, seconds);
    std::size_t rays = 0, missed = 0;
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const std::size_t from = k / points.size(), to = k % points.size();
      if (std::isnan(seconds[k])) {
        ASSERT_TRUE(std::isnan(solver[k])) << to_string(level) << ", " << from << " to " << to;
        if (!std::isnan(expected[k])) ++missed;
        continue;
      }
      ++rays;
      ASSERT_NEAR(seconds[k], expected[k], tolerance) << to_string(level) << ", " << from << " to " << to;
      ASSERT_FALSE(seconds[k] > solver[k] + solved) << to_string(level) << ", " << from << " to " << to;
    }
    EXPECT_GE(rays, least_count) << to_string(level);
    EXPECT_LE(missed, most_missed) << to_string(level);
  }
}

Reference circle(double radius, bool inside) {
  Reference over;
  over.curve = [=](double u) {
    const double angle = pi * (u - 0.5);
    return Vector2{radius * std::sin(angle), inside ? radius * (std::cos(angle) - 1.0) : radius * (1.0 - std::cos(angle))};
  };
  return over;
}
std::shared_ptr<const Surface> half_circle(double radius, bool inside) {
  return surface_of({inside ? arc_segment({0.0, -radius}, radius, pi, -pi) : arc_segment({0.0, radius}, radius, -pi, pi)});
}

TEST(RaysAcross, ThroughRodsAreOfLeastTime) {
  const std::vector<Point> sources{at(0.0, 0.0, -0.01), at(0.02, -0.012, -0.005), at(-0.02, 0.03, -0.03), at(1e-3, 1e-3, -1e-6)};
  const std::vector<Point> points = volume({-0.025, -0.03, 1e-3}, {0.024, 0.031, 0.025}, 7);
  for (const auto& [c1, c2] : {std::pair{1480.0, 6320.0}, {1480.0, 3130.0}, {1480.0, 1480.0}, {6320.0, 1480.0}})
    expect_least(through(half_circle(0.03, false), c1, c2), circle(0.03, false), sources, points, 500, 10);
}

TEST(RaysAcross, ThroughBoresAreOfLeastTime) {
  // From further away than the radius, several rays reach a point.
  for (const double height : {0.005, 0.02, 0.045}) {
    const std::vector<Point> sources{at(0.0, 0.0, -height), at(0.01, -0.012, -height)};
    const std::vector<Point> points = volume({-0.03, -0.03, -8e-3}, {0.031, 0.032, 0.04}, 8);
    for (const auto& [c1, c2] : {std::pair{1480.0, 6320.0}, {6320.0, 3130.0}})
      expect_least(through(half_circle(0.03, true), c1, c2), circle(0.03, true), sources, points, 50, height > 0.03 ? 20 : 0);
  }
}

/// Sines of 1 mm by cubics.
std::vector<Segment> waves(double depth) {
  std::vector<Segment> segments;
  constexpr int count = 40;
  const double step = 0.1 / count, k = 2.0 * pi / 15e-3;
  for (int i = 0; i < count; ++i) {
    const double x = -0.05 + i * step;
    const auto place = [&](double u) { return Vector2{u, depth + 1e-3 * std::sin(k * u)}; };
    const auto slope = [&](double u) { return step * Vector2{1.0, 1e-3 * k * std::cos(k * u)}; };
    segments.push_back(cubic_segment(place(x), slope(x), place(x + step), slope(x + step)));
  }
  return segments;
}

Reference cubics(const std::vector<Segment>& segments, double source_side, double point_side) {
  Reference over;
  over.curve = [=](double u) {
    const auto count = static_cast<double>(segments.size());
    const auto k = static_cast<std::size_t>(std::clamp(u * count, 0.0, count - 1.0));
    return segments[k].point(u * count - static_cast<double>(k)).at;
  };
  over.source_side = source_side;
  over.point_side = point_side;
  over.shadows = true;
  over.samples = 800;
  return over;
}

TEST(RaysAcross, ThroughAndOffWavesWithShadowsAreOfLeastTime) {
  const std::vector<Point> sources{at(-0.01, 0.0, -0.02), at(2e-3, -9e-3, -5e-3)};
  const std::vector<Point> points = volume({-0.02, -0.02, -1e-3}, {0.021, 0.022, 0.03}, 7);
  expect_least(through(surface_of(waves(0.0)), 1480.0, 6320.0), cubics(waves(0.0), -1.0, 1.0), sources, points, 100);
  const RayPath off{{MetresPerSecond(3130.0), MetresPerSecond(6320.0)}, {{surface_of(waves(0.03)), true, false}}};
  expect_least(off, cubics(waves(0.03), -1.0, -1.0), {at(-8e-3, 0.0, 0.0), at(2e-3, 6e-3, 0.0)}, points, 100, 2);
  const RayPath out{{MetresPerSecond(6320.0), MetresPerSecond(1480.0)}, {{surface_of(waves(0.0)), false, true}}};
  expect_least(out, cubics(waves(0.0), 1.0, -1.0), {at(1e-3, 0.0, 0.02)}, volume({-0.02, -0.02, -0.03}, {0.021, 0.022, -2e-3}, 7),
               50);
}

}  // namespace
}  // namespace echoform::across_test
