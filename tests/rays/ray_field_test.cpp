// Fields of rays, by every instruction set, against brute force and against the general solver.
#include "rays/ray_field.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <random>

#include "rays/crossing_math.hpp"
#include "rays/layer_math.hpp"
#include "rays/surface_kind.hpp"
#include "tests/rays/brute_force.hpp"

namespace echoform::ray_field_test {
namespace {

using brute::Curve;
using brute::Place;

/// What a field owes is 1e-12 s; brute force is good to about 1e-18 s.
constexpr double tolerance = 1e-12;
constexpr double pi = std::numbers::pi;

std::vector<SimdLevel> levels() {
  std::vector<SimdLevel> all;
  for (const SimdLevel level : {SimdLevel::portable, SimdLevel::avx2, SimdLevel::avx512}) {
    if (level <= simd_level()) all.push_back(level);
  }
  return all;
}

Point at(double x, double z, double y = 0.0) {
  return {Metres(x), Metres(y), Metres(z)};
}
Place place(const Point& p) {
  return {p.x.value, p.z.value, p.y.value};
}

std::shared_ptr<const Surface> surface_of(std::vector<Segment> segments) {
  return std::make_shared<const Surface>("surface", std::move(segments));
}

RayPath through(std::shared_ptr<const Surface> surface, double c1, double c2) {
  return {{MetresPerSecond(c1), MetresPerSecond(c2)}, {{std::move(surface), false, false}}};
}

struct Uniform {
  std::mt19937_64 engine{7};
  double operator()(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine); }
};

std::vector<double> times_of(const RayPath& path, const std::vector<Point>& sources, const std::vector<Point>& points,
                             SimdLevel level) {
  std::vector<double> seconds(sources.size() * points.size(), -1.0);
  make_ray_field(path, sources, level)->times(0, sources.size(), points, seconds);
  return seconds;
}

/// Least time by other means; infinite where there is no ray.
using Reference = std::function<long double(const Place& from, const Place& to)>;

/// The curve of segments that all take as much of u; in extended precision, by the segments' numbers alone.
Curve curve_of(const std::vector<Segment>& segments) {
  return [segments](long double u) {
    const auto k = std::min<std::size_t>(segments.size() - 1, static_cast<std::size_t>(u * segments.size()));
    const long double t = u * segments.size() - k;
    const Segment& s = segments[k];
    if (s.kind == SegmentKind::arc) {
      const long double angle = s.from + t * s.turn;
      return Place{s.a.x + s.radius * std::cos(angle), s.a.z + s.radius * std::sin(angle), 0};
    }
    return Place{s.a.x + t * (s.b.x + t * (s.c.x + t * s.d.x)), s.a.z + t * (s.b.z + t * (s.c.z + t * s.d.z)), 0};
  };
}

/// Over lines with corners, where a least time is no ray.
Reference over_lines(const std::vector<Segment>& lines, double c1, double c2) {
  return [lines, c1, c2](const Place& from, const Place& to) {
    const Curve whole = curve_of(lines);
    long double best = std::numeric_limits<long double>::infinity();
    for (std::size_t k = 0; k < lines.size(); ++k) {
      const Curve line = [&](long double u) { return whole((k + u) / lines.size()); };
      const auto least = brute::through(from, to, line, c1, c2, 8);
      if (least.time >= best || least.u < 1e-9L || least.u > 1 - 1e-9L) continue;
      const Place at = line(least.u);
      if (brute::obstructed(from, at, whole, 4000) || brute::obstructed(at, to, whole, 4000)) continue;
      best = least.time;
    }
    return best;
  };
}

/// All rays against the general solver's: the same ones, and their times; these against `reference` too, where there is one.
void expect_solver(const RayPath& path, const std::vector<Point>& sources, const std::vector<Point>& points,
                   std::string_view name, std::size_t least_rays, const Reference& reference = {}) {
  EXPECT_EQ(make_ray_field(path, sources)->name(), name);
  std::vector<double> expected(sources.size() * points.size());
  std::size_t rays = 0;
  for (std::size_t source = 0; source < sources.size(); ++source) {
    RaySolver solver(path, sources[source]);
    for (std::size_t k = 0; k < points.size(); ++k) {
      const double time = solver.time_to(points[k]);
      expected[source * points.size() + k] = time;
      if (std::isnan(time)) continue;
      ++rays;
      if (reference) {
        ASSERT_NEAR(time, static_cast<double>(reference(place(sources[source]), place(points[k]))), tolerance);
      }
    }
  }
  EXPECT_GE(rays, least_rays) << "a test of too few rays";
  for (const SimdLevel level : levels()) {
    const std::vector<double> seconds = times_of(path, sources, points, level);
    for (std::size_t k = 0; k < seconds.size(); ++k) {
      const Point& from = sources[k / points.size()];
      const Point& to = points[k % points.size()];
      ASSERT_EQ(std::isnan(seconds[k]), std::isnan(expected[k]))
          << to_string(level) << ", from " << from.x.value << ", " << from.z.value << " to " << to.x.value << ", " << to.z.value;
      if (!std::isnan(expected[k])) {
        ASSERT_NEAR(seconds[k], expected[k], tolerance) << to_string(level) << ", " << k;
      }
    }
  }
}

std::vector<Point> random_points(Uniform& random, std::size_t count, double x, double shallow, double deep) {
  std::vector<Point> points;
  for (std::size_t k = 0; k < count; ++k) points.push_back(at(random(-x, x), random(shallow, deep)));
  return points;
}

TEST(RayFields, ThroughPlanesAreOfLeastTime) {
  Uniform random;
  for (int geometry = 0; geometry < 12; ++geometry) {
    const double slope = std::tan(random(-0.6, 0.6)), depth = random(-2e-3, 2e-3);
    const auto height = [&](long double x) { return depth + slope * x; };
    const auto plane =
        surface_of({line_segment({-0.5, static_cast<double>(height(-0.5))}, {0.5, static_cast<double>(height(0.5))})});
    const Curve curve = [&](long double u) { return Place{u - 0.5L, height(u - 0.5L), 0}; };
    const double c1 = random(1000.0, 7000.0);
    const double c2 = geometry == 0 ? c1 : geometry == 1 ? c1 * (1.0 + 1e-9) : random(1000.0, 7000.0);
    const RayPath path = through(plane, c1, c2);
    std::vector<Point> sources;
    std::vector<Point> points;
    for (int k = 0; k < 3; ++k) {
      const double x = random(-0.03, 0.03);
      sources.push_back(at(x, static_cast<double>(height(x)) - random(1e-3, 0.04)));
    }
    for (int k = 0; k < 13; ++k) {
      const double x = random(-0.05, 0.05);
      points.push_back(at(x, static_cast<double>(height(x)) + random(0.5e-3, 0.06)));
    }
    EXPECT_EQ(make_ray_field(path, sources)->name(), "layers");
    for (const SimdLevel level : levels()) {
      const std::vector<double> seconds = times_of(path, sources, points, level);
      for (std::size_t k = 0; k < seconds.size(); ++k) {
        const auto least = brute::through(place(sources[k / 13]), place(points[k % 13]), curve, c1, c2);
        ASSERT_NEAR(seconds[k], static_cast<double>(least.time), tolerance) << to_string(level) << ", " << k;
      }
    }
  }
}

TEST(RayFields, ThroughPlanesHoldNearTheSurfaceAndAlongIt) {
  // Along the plane on either side: down to a nanometre and on the plane itself, up to 89 degrees.
  const auto plane = surface_of({line_segment({-2.0, 0.0}, {2.0, 0.0})});
  const Curve curve = [](long double u) { return Place{-1.0L + 2.0L * u, 0, 0}; };
  std::vector<Point> sources;
  std::vector<Point> points;
  for (const double height : {0.0, 1e-9, 1e-6, 1e-3, 0.02}) sources.push_back(at(0.0, -height));
  // At the critical angle of water and aluminium lies x = 0.02 * tan(asin(1480 / 6320)) = 4.817 mm, from 20 mm above.
  for (const double depth : {0.0, 1e-9, 1e-7, 1e-5, 1e-3, 0.02}) {
    for (const double x : {0.0, 1e-6, 4.817e-3, 4.8174e-3, 4.82e-3, 0.03, 0.9}) points.push_back(at(x, depth));
  }
  for (const auto& [c1, c2] : {std::pair{1480.0, 6320.0}, {6320.0, 1480.0}, {1480.0, 1480.0}, {1480.0, 1480.001}}) {
    std::vector<double> least;
    for (const Point& from : sources) {
      for (const Point& to : points) {
        least.push_back(static_cast<double>(brute::through(place(from), place(to), curve, c1, c2, 20000).time));
      }
    }
    for (const SimdLevel level : levels()) {
      const std::vector<double> seconds = times_of(through(plane, c1, c2), sources, points, level);
      for (std::size_t k = 0; k < seconds.size(); ++k) {
        const Point& from = sources[k / points.size()];
        const Point& to = points[k % points.size()];
        ASSERT_NEAR(seconds[k], least[k], tolerance)
            << to_string(level) << ", from " << from.z.value << " to " << to.x.value << ", " << to.z.value;
      }
    }
  }
}

TEST(RayFields, ThroughPlanesTakeTheirWayAlongY) {
  Uniform random;
  const auto plane = surface_of({line_segment({-0.5, -0.05}, {0.5, 0.05})});
  const Curve curve = [](long double u) { return Place{-0.1L + 0.2L * u, 0.1L * (-0.1L + 0.2L * u), 0}; };
  const std::vector<Point> sources{at(1e-3, -0.02, 2e-3), at(-8e-3, -0.015, -7e-3)};
  std::vector<Point> points;
  for (int k = 0; k < 5; ++k) points.push_back(at(random(-0.02, 0.02), random(5e-3, 0.03), random(-0.01, 0.01)));
  for (const SimdLevel level : levels()) {
    const std::vector<double> seconds = times_of(through(plane, 1480.0, 6320.0), sources, points, level);
    for (std::size_t k = 0; k < seconds.size(); ++k) {
      const auto least = brute::through_with_y(place(sources[k / 5]), place(points[k % 5]), curve, 1480.0, 6320.0);
      EXPECT_NEAR(seconds[k], static_cast<double>(least.time), tolerance) << to_string(level);
    }
  }
}

/// Snell's law by bisection of the ray parameter.
long double time_through_layers(const std::vector<long double>& heights, const std::vector<double>& velocities,
                                long double lateral) {
  long double low = 0, high = 1.0L / *std::max_element(velocities.begin(), velocities.end());
  long double time = 0;
  for (int step = 0; step < 200; ++step) {
    const long double p = (low + high) / 2;
    long double way = 0;
    time = p * lateral;
    for (std::size_t k = 0; k < heights.size(); ++k) {
      const long double left = std::sqrt((1 / (static_cast<long double>(velocities[k]) * velocities[k])) - p * p);
      way += heights[k] * p / left;
      time += heights[k] * left;
    }
    (way < lateral ? low : high) = p;
  }
  return time;
}

TEST(RayFields, ThroughPlanesSayInPlainNumbersWhatTheyFind) {
  // Backends that find rays by themselves have nothing but the form.
  for (const double across : {0.0, 17.0}) {
    const MadeSurface plane =
        make_any_surface({"[surface]", "plane", {{"z", 1e-3}, {"angle", -12.0}, {"angle_across", across}}, {}});
    RayPath path = through(plane.curve, 1480.0, 6320.0);
    path.interfaces.front().spatial = plane.spatial;
    const std::vector<Point> sources{at(-5e-3, -20e-3, 3e-3), at(8e-3, -25e-3, -11e-3), at(0.0, -18e-3)};
    Uniform random;
    std::vector<Point> points;
    for (int k = 0; k < 300; ++k) points.push_back(at(random(-20e-3, 20e-3), random(-8e-3, 40e-3), random(-20e-3, 20e-3)));
    const auto field = make_ray_field(path, sources);
    std::vector<double> seconds(sources.size() * points.size());
    field->times(0, sources.size(), points, seconds);
    const auto form = field->form();
    ASSERT_TRUE(form && form->layers);
    const rays::LayerForm& layers = *form->layers;
    ASSERT_EQ(layers.slow, 1);
    std::size_t found = 0;
    for (std::size_t source = 0; source < sources.size(); ++source) {
      const rays::LayerSource& from = layers.sources[source];
      for (std::size_t k = 0; k < points.size(); ++k) {
        const Vector3 to = vector_of(points[k]);
        const double last = layers.leaves * (dot(to, layers.normal) - layers.depth);
        const double time = seconds[source * points.size() + k];
        ASSERT_EQ(std::isnan(time), last < 0.0);
        if (last < 0.0) continue;
        ++found;
        const double lateral = std::hypot(dot(to, layers.tangent) - from.along, dot(to, layers.across) - from.across);
        bool finished = false;
        EXPECT_NEAR(rays::layer_ray<1>(from.stack, lateral, last, rays::most_layer_steps, finished), time, tolerance);
        EXPECT_TRUE(finished);
      }
    }
    EXPECT_GT(found, 500U);
  }
}

TEST(RayFields, OffAndThroughParallelPlanesAreTheSolvers) {
  Uniform random;
  const Vector2 along{std::cos(0.2), std::sin(0.2)};
  const auto tilted = [&](double depth, double direction) {
    const Vector2 middle{0.0, depth};
    return surface_of({line_segment(middle - direction * along, middle + direction * along)});
  };
  const auto front = tilted(0.0, 0.5), back = tilted(0.03, 0.5), reversed = tilted(0.03, -0.5);
  const MetresPerSecond water(1480.0), l(6320.0), t(3130.0);
  // Planes 0.03 cos(0.2) apart; all legs but the first and the last cross the whole plate.
  const auto layers = [along](std::vector<double> velocities, bool last_is_from_back) {
    return [=](const Place& from, const Place& to) {
      const long double thick = 0.03L * along.x;
      const auto depth = [&](const Place& p) { return along.x * p.z - along.z * p.x; };
      std::vector<long double> heights(velocities.size(), thick);
      heights.front() = -depth(from);
      heights.back() = last_is_from_back ? thick - depth(to) : depth(to);
      return time_through_layers(heights, velocities, std::abs(along.x * (to.x - from.x) + along.z * (to.z - from.z)));
    };
  };
  const std::vector<Point> sources{at(0.0, -0.02), at(0.01, -0.015), at(-0.01, -0.03)};
  const std::vector<Point> points = random_points(random, 150, 0.02, -0.005, 0.035);
  expect_solver({{water, t, l}, {{front, false, false}, {back, true, false}}}, sources, points, "layers", 200,
                layers({1480.0, 3130.0, 6320.0}, true));
  // As the surface runs, so its sides lie: this wall's lower side is the upper one.
  expect_solver({{water, t, l}, {{front, false, false}, {reversed, true, true}}}, sources, points, "layers", 200,
                layers({1480.0, 3130.0, 6320.0}, true));
  expect_solver({{water, l, t, l}, {{front, false, false}, {back, true, false}, {front, true, true}}}, sources, points, "layers",
                200, layers({1480.0, 6320.0, 3130.0, 6320.0}, false));
  expect_solver({{water, l, l, l, t}, {{front, false, false}, {back, true, false}, {front, true, true}, {back, true, false}}},
                sources, {points.begin(), points.begin() + 20}, "layers", 20,
                layers({1480.0, 6320.0, 6320.0, 6320.0, 3130.0}, true));
  const auto inclined = surface_of({line_segment({-0.5, 0.03}, {0.5, 0.05})});
  expect_solver({{water, t, l}, {{front, false, false}, {inclined, true, false}}}, sources, {points.begin(), points.begin() + 30},
                "general", 20);
}

TEST(RayFields, OffParallelPlanesAreOfLeastTime) {
  const auto front = surface_of({line_segment({-0.5, 0.0}, {0.5, 0.0})}),
             back = surface_of({line_segment({-0.5, 0.02}, {0.5, 0.02})});
  const RayPath path{{MetresPerSecond(1480.0), MetresPerSecond(6320.0), MetresPerSecond(3130.0)},
                     {{front, false, false}, {back, true, false}}};
  const Curve one = [](long double u) { return Place{-0.05L + 0.1L * u, 0, 0}; };
  const Curve two = [](long double u) { return Place{-0.05L + 0.1L * u, 0.02L, 0}; };
  const std::vector<Point> sources{at(-3e-3, -0.02)}, points{at(4e-3, 6e-3), at(-0.012, 0.015)};
  for (const SimdLevel level : levels()) {
    const std::vector<double> seconds = times_of(path, sources, points, level);
    for (std::size_t k = 0; k < points.size(); ++k) {
      const auto least = brute::through_two(place(sources[0]), place(points[k]), one, two, 1480.0, 6320.0, 3130.0);
      EXPECT_NEAR(seconds[k], static_cast<double>(least.time), tolerance) << to_string(level);
    }
  }
}

TEST(RayFields, EndWithThePlane) {
  Uniform random;
  const auto small = surface_of({line_segment({-2e-3, 0.0}, {3e-3, 1e-3})});
  expect_solver(through(small, 1480.0, 6320.0), {at(0.0, -0.01), at(0.02, -0.01)}, random_points(random, 200, 0.02, -0.002, 0.02),
                "layers", 30);
}

/// Sines of 1.5 mm by cubics, whose crests throw shadows.
std::vector<Segment> waves(int pieces) {
  constexpr double height = 1.5e-3, number = 2.0 * pi / 12e-3;
  std::vector<Segment> segments;
  const double step = 0.1 / pieces;
  for (int k = 0; k < pieces; ++k) {
    const double a = -0.05 + k * step, b = a + step;
    segments.push_back(cubic_segment({a, height * std::sin(number * a)}, {step, step * height * number * std::cos(number * a)},
                                     {b, height * std::sin(number * b)}, {step, step * height * number * std::cos(number * b)}));
  }
  return segments;
}

std::vector<Segment> lines_of(const std::vector<Segment>& segments) {
  std::vector<Segment> lines;
  for (const Segment& s : segments) lines.push_back(line_segment(s.point(0.0).at, s.point(1.0).at));
  return lines;
}

TEST(RayFields, ThroughProfilesAreOfLeastTimeOfSeveralMinima) {
  Uniform random;
  const std::vector<Segment> segments = waves(200);
  const Curve curve = curve_of(segments);
  const RayPath path = through(surface_of(segments), 1480.0, 6320.0);
  const std::vector<Point> sources{at(-0.015, -0.02), at(2e-3, -9e-3), at(0.01, -0.028)};
  const std::vector<Point> points = random_points(random, 11, 0.02, 4e-3, 0.03);
  std::vector<double> expected;
  for (const Point& from : sources) {
    for (const Point& to : points) {
      expected.push_back(static_cast<double>(brute::through_open(place(from), place(to), curve, 1480.0, 6320.0, 20000).time));
    }
  }
  EXPECT_EQ(make_ray_field(path, sources)->name(), "curve");
  int rays = 0;
  for (const SimdLevel level : levels()) {
    const std::vector<double> seconds = times_of(path, sources, points, level);
    for (std::size_t k = 0; k < seconds.size(); ++k) {
      ASSERT_EQ(std::isnan(seconds[k]), std::isinf(expected[k])) << to_string(level) << ", " << k;
      if (std::isnan(seconds[k])) continue;
      ++rays;
      EXPECT_NEAR(seconds[k], expected[k], tolerance) << to_string(level) << ", " << k;
    }
  }
  EXPECT_GT(rays, 15);
}

TEST(RayFields, ThroughProfilesAreTheSolvers) {
  Uniform random;
  const std::vector<Point> sources{at(-0.03, -0.02), at(0.0, -4e-3), at(0.012, -0.04), at(0.045, -0.01)};
  const std::vector<Point> points = random_points(random, 200, 0.05, 1e-3, 0.04);
  const auto compare = [&](const std::vector<Segment>& segments, double c1, double c2, const std::vector<Point>& to,
                           std::size_t least) {
    expect_solver(through(surface_of(segments), c1, c2), sources, to, "curve", least);
  };
  compare(waves(200), 1480.0, 6320.0, points, 300);
  compare(waves(200), 6320.0, 1480.0, points, 300);
  compare(waves(200), 1480.0, 1480.0, points, 300);
  compare(lines_of(waves(40)), 1480.0, 6320.0, points, 200);
  // Arcs between lines.
  std::vector<Segment> mixed{line_segment({-0.05, 0.0}, {0.0, 0.0}), arc_segment({0.0, 0.03}, 0.03, -0.5 * pi, 0.6)};
  const Vector2 end = mixed.back().point(1.0).at;
  mixed.push_back(line_segment(end, end + 0.04 * Vector2{std::cos(0.6), std::sin(0.6)}));
  compare(mixed, 1480.0, 6320.0, random_points(random, 200, 0.05, 0.02, 0.04), 300);
}

TEST(RayFields, ThroughLinesAreOfLeastTimeBesideTheirCorners) {
  Uniform random;
  const std::vector<Segment> lines = lines_of(waves(40));
  const RayPath path = through(surface_of(lines), 1480.0, 6320.0);
  const Reference reference = over_lines(lines, 1480.0, 6320.0);
  // From this source the least time among the nodes is not always beside the ray.
  const std::vector<Point> sources{at(-0.03, -0.02)};
  const std::vector<Point> points = random_points(random, 40, 0.05, 1e-3, 0.04);
  std::vector<double> expected;
  for (const Point& to : points) expected.push_back(static_cast<double>(reference(place(sources[0]), place(to))));
  RaySolver solver(path, sources[0]);
  for (std::size_t k = 0; k < points.size(); ++k) {
    const double time = solver.time_to(points[k]);
    EXPECT_NEAR(std::isnan(time) ? 0.0 : time, std::isinf(expected[k]) ? 0.0 : expected[k], tolerance) << "solver, " << k;
  }
  for (const SimdLevel level : levels()) {
    const std::vector<double> seconds = times_of(path, sources, points, level);
    for (std::size_t k = 0; k < points.size(); ++k) {
      EXPECT_NEAR(std::isnan(seconds[k]) ? 0.0 : seconds[k], std::isinf(expected[k]) ? 0.0 : expected[k], tolerance)
          << to_string(level) << ", " << k;
    }
  }
}

TEST(RayFields, OffBackwallsAreTheSolvers) {
  Uniform random;
  const std::vector<Point> sources{at(-8e-3, 0.0), at(0.0, 0.0), at(9e-3, 0.0)};
  const std::vector<Point> points = random_points(random, 150, 0.02, 1e-3, 0.028);
  std::vector<Segment> wall;
  for (Segment segment : waves(100)) {
    segment.a.z += 0.03;
    wall.push_back(segment);
  }
  const RayPath off_waves{{MetresPerSecond(3130.0), MetresPerSecond(6320.0)}, {{surface_of(wall), true, false}}};
  expect_solver(off_waves, sources, points, "curve", 100);
  const RayPath off_plane{{MetresPerSecond(3130.0), MetresPerSecond(6320.0)},
                          {{surface_of({line_segment({-0.5, 0.03}, {0.5, 0.04})}), true, false}}};
  expect_solver(off_plane, sources, points, "layers", 400);
  // From below: back through the front surface.
  const RayPath out{{MetresPerSecond(6320.0), MetresPerSecond(1480.0)}, {{surface_of(waves(200)), false, true}}};
  expect_solver(out, {at(1e-3, 0.02), at(-0.02, 0.012)}, random_points(random, 100, 0.03, -0.03, -4e-3), "curve", 50);
}

TEST(RayFields, ThroughCylindersAreOfLeastTime) {
  Uniform random;
  for (int geometry = 0; geometry < 6; ++geometry) {
    // From outside; flat enough from inside that each point has one least time.
    const bool outside = geometry < 3;
    const double radius = outside ? random(0.02, 0.08) : random(0.1, 0.2);
    const Vector2 centre{random(-5e-3, 5e-3), outside ? radius : -radius};
    const double turn = outside ? pi : -pi;
    const RayPath path = through(surface_of({arc_segment(centre, radius, -turn, turn)}), 1480.0, 6320.0);
    const Curve curve = [&](long double u) {
      const long double angle = -static_cast<long double>(turn) * (1 - u);
      return Place{centre.x + radius * std::cos(angle), centre.z + radius * std::sin(angle), 0};
    };
    const std::vector<Point> sources{at(random(-0.01, 0.01), random(-0.03, -5e-3)),
                                     at(random(-0.01, 0.01), random(-0.03, -5e-3))};
    std::vector<Point> points;
    for (int k = 0; k < 9; ++k) {
      points.push_back(at(centre.x + random(-0.3, 0.3) * std::min(radius, 0.04), random(0.08 * 0.04 + 0.05 * radius, 0.05)));
    }
    for (const SimdLevel level : levels()) {
      const std::vector<double> seconds = times_of(path, sources, points, level);
      for (std::size_t k = 0; k < seconds.size(); ++k) {
        const auto least = brute::through(place(sources[k / 9]), place(points[k % 9]), curve, 1480.0, 6320.0);
        ASSERT_NEAR(seconds[k], static_cast<double>(least.time), tolerance) << to_string(level) << ", " << geometry << ", " << k;
      }
    }
  }
}

TEST(RayFields, ThroughCylindersAreTheSolversNearAndFar) {
  Uniform random;
  const auto rod = surface_of({arc_segment({0.0, 0.03}, 0.03, -pi, pi)});
  const std::vector<Point> sources{at(0.0, -0.01), at(0.04, -0.005), at(-0.02, -0.04)};
  expect_solver(through(rod, 1480.0, 6320.0), sources, random_points(random, 300, 0.03, -0.005, 0.06), "curve", 300);
  // From 2 nm to 1 mm below its surface, and from elements that nearly touch it.
  std::vector<Point> near;
  for (int k = 0; k < 100; ++k) {
    const double angle = random(-2.2, -0.9), radius = 0.03 - std::pow(10.0, random(-8.7, -3.0));
    near.push_back(at(radius * std::cos(angle), 0.03 + radius * std::sin(angle)));
  }
  expect_solver(through(rod, 1480.0, 6320.0), sources, near, "curve", 150);
  expect_solver(through(rod, 1480.0, 6320.0), {at(0.0, -1e-6), at(0.0, -1e-4), at(0.0, -2e-9)}, near, "curve", 150);
  // An element on the surface sends straight into the part, since the couplant is slower: at a node, and beside one.
  const std::vector<Point> touching{at(0.0, 0.0), at(0.03 * std::sin(0.1), 0.03 - 0.03 * std::cos(0.1))};
  const std::vector<Point> deep = random_points(random, 50, 0.015, 0.02, 0.04);
  for (const SimdLevel level : levels()) {
    const std::vector<double> seconds = times_of(through(rod, 1480.0, 6320.0), touching, deep, level);
    for (std::size_t k = 0; k < seconds.size(); ++k) {
      const double straight = static_cast<double>(brute::distance(place(touching[k / 50]), place(deep[k % 50]))) / 6320.0;
      EXPECT_NEAR(seconds[k], straight, tolerance) << to_string(level) << ", " << k;
    }
  }
  // Hardly bent: arcs of huge circles lose nothing.
  const auto huge = surface_of({arc_segment({0.0, 1e4}, 1e4, -0.5 * pi - 5e-6, 1e-5)});
  expect_solver(through(huge, 1480.0, 6320.0), sources, random_points(random, 100, 0.02, 1e-3, 0.04), "curve", 200);
  // Beside the plane of the ends.
  std::vector<Point> beside;
  for (int k = 0; k < 20; ++k) beside.push_back(at(random(-0.01, 0.01), random(0.01, 0.03), random(-0.01, 0.01)));
  beside.push_back(at(0.0, 0.02));
  expect_solver(through(rod, 1480.0, 6320.0), sources, beside, "curve", 40);
}

TEST(RayFields, AnswerForAnySourcesAndPoints) {
  Uniform random;
  const std::vector<Point> sources{at(-0.01, -0.02), at(0.0, -0.02), at(0.01, -0.02)};
  for (const RayPath& path :
       {through(surface_of(waves(50)), 1480.0, 6320.0),
        through(surface_of({line_segment({-0.5, 0.0}, {0.5, 0.0})}), 1480.0, 6320.0),
        through(std::make_shared<const Surface>(Surface::sampled("points", {{-0.01, 0.0}, {0.01, 0.0}})), 1480.0, 6320.0),
        RayPath{{MetresPerSecond(6320.0)}, {}}}) {
    for (const std::size_t count : {0U, 1U, 7U, 8U, 9U, 150U}) {
      const std::vector<Point> points = random_points(random, count, 0.02, 5e-3, 0.03);
      for (const SimdLevel level : levels()) {
        std::vector<double> seconds(2 * count, -1.0);
        make_ray_field(path, sources, level)->times(1, 3, points, seconds);
        const std::vector<double> all = times_of(path, sources, points, level);
        for (std::size_t k = 0; k < seconds.size(); ++k) {
          if (std::isnan(all[count + k])) {
            EXPECT_TRUE(std::isnan(seconds[k]));
          } else {
            EXPECT_NEAR(seconds[k], all[count + k], 1e-15);
          }
        }
      }
    }
  }
}

TEST(LayerMath, NeedsFewStepsWhereverTheRayGoes) {
  rays::LayerStack stack;
  stack.slowness = 1.0 / 6320.0;
  stack.varies = 1.0;
  stack.ratio[0] = 1480.0 / 6320.0;
  stack.bend[0] = 1.0 - stack.ratio[0] * stack.ratio[0];
  stack.critical[0] = stack.ratio[0] / std::sqrt(stack.bend[0]);
  stack.slow_fixed[0] = 0.02;
  for (double last = 1e-9; last < 0.2; last *= 3.0) {
    for (double lateral = 1e-6; lateral < 1.0; lateral *= 1.3) {
      bool finished = false;
      const double usual = rays::layer_ray<1>(stack, lateral, last, 20, finished);
      EXPECT_TRUE(finished) << last << ", " << lateral;
      const double all = rays::layer_ray<1>(stack, lateral, last, 40, finished);
      // 1e-14 of at most 0.2 ms, and rounding.
      EXPECT_NEAR(usual, all, 1e-17);
    }
  }
}

TEST(CrossingMath, HasTheDerivativesOfItsTime) {
  const rays::CurvePiece piece{{0.0, 0.0}, {2e-3, 1e-4}, {1e-4, -2e-4}, {3e-5, 1e-5}, 0.02};
  const rays::CrossingEnds ends{{-3e-3, -0.01}, {4e-3, 0.02}, 1.0 / 1480.0, 1.0 / 6320.0};
  constexpr double step = 1e-4;
  for (const double t : {0.1, 0.5, 0.9}) {
    const auto before = rays::crossing_at(piece, ends, t - step), now = rays::crossing_at(piece, ends, t),
               after = rays::crossing_at(piece, ends, t + step);
    // Central differences lack step^2 / 6 of the derivative after next, here of the size of the derivative itself or below.
    EXPECT_NEAR((after.time - before.time) / (2.0 * step), now.slope, 1e-7 * std::abs(now.slope) + 1e-14);
    EXPECT_NEAR((after.slope - before.slope) / (2.0 * step), now.bend, 1e-6 * std::abs(now.bend));
  }
}

TEST(RayFields, TraceTheRaysThatTheSolverTraces) {
  // A wave under which several rays reach some points, with a corner in its middle.
  std::vector<Segment> segments;
  const auto height = [](double u) { return 1e-3 * std::sin(2.0 * pi * u / 15e-3) + 0.1 * std::abs(u); };
  for (int k = -40; k < 40; ++k) {
    const double step = 1e-3;
    const auto slope = [&](double u) {
      const double sign = k < 0 ? -1.0 : 1.0;
      return Vector2{step, step * (1e-3 * 2.0 * pi / 15e-3 * std::cos(2.0 * pi * u / 15e-3) + 0.1 * sign)};
    };
    const double u = k * step;
    segments.push_back(cubic_segment({u, height(u)}, slope(u), {u + step, height(u + step)}, slope(u + step)));
  }
  const RayPath path = through(surface_of(std::move(segments)), 1480.0, 6320.0);
  const std::vector<Point> sources{at(-6e-3, -20e-3), at(1e-3, -15e-3)};
  std::vector<Point> points;
  for (int k = 0; k < 300; ++k) points.push_back(at(-15e-3 + 1e-4 * k, 6e-3 + 1e-3 * (k % 29)));
  const auto field = make_ray_field(path, sources);
  ASSERT_EQ(field->name(), "curve");
  std::vector<RayTrace> traces(sources.size() * points.size());
  field->trace(0, sources.size(), points, traces);
  std::size_t several = 0;
  std::size_t behind = 0;
  for (std::size_t source = 0; source < sources.size(); ++source) {
    RaySolver solver(path, sources[source]);
    for (std::size_t k = 0; k < points.size(); ++k) {
      const RayTrace& trace = traces[source * points.size() + k];
      const RayTrace expected = solver.trace_to(points[k]);
      ASSERT_EQ(std::isnan(trace.seconds), std::isnan(expected.seconds));
      if (std::isnan(trace.seconds)) continue;
      EXPECT_NEAR(trace.seconds, expected.seconds, tolerance);
      // Places are found to where times are: 1e-12 s over a bend of 1e-2 s/m^2, and the way along is reckoned on the chord.
      EXPECT_LT(length(trace.crossings[0].at - expected.crossings[0].at), 1e-5);
      EXPECT_NEAR(trace.crossings[0].along, expected.crossings[0].along, 0.02);
      // The field reckons with what other ways take at least: a node's bend over the nodes' distance of 0.7 mm.
      if (std::isinf(expected.lead)) {
        EXPECT_TRUE(std::isinf(trace.lead));
        continue;
      }
      ++(expected.lead > 0.0 ? several : behind);
      EXPECT_LE(trace.lead, expected.lead + tolerance);
      EXPECT_GE(trace.lead, expected.lead - 1e-7);
    }
  }
  EXPECT_GT(several, 10U);
  EXPECT_GT(behind, 0U) << "rays behind a corner's diffraction";
}

}  // namespace
}  // namespace echoform::ray_field_test
