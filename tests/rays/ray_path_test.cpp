// Rays against brute force, on random geometries.
#include "rays/ray_path.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "base/errors.hpp"
#include "tests/rays/brute_force.hpp"

namespace echoform {
namespace {

using brute::Curve;
using brute::Place;

/// What the solver owes is 1 ns; the reference is good to about 1e-18 s, and so is the solver where T is stationary.
constexpr double tolerance = 1e-12;

std::shared_ptr<const Surface> shared(std::vector<Segment> segments) {
  return std::make_shared<const Surface>("surface", std::move(segments));
}

Point point(double x, double z, double y = 0.0) {
  return {Metres(x), Metres(y), Metres(z)};
}

RayPath refraction(std::shared_ptr<const Surface> surface, double c1, double c2) {
  return {{MetresPerSecond(c1), MetresPerSecond(c2)}, {{std::move(surface), false, false}}};
}

class Random {
 public:
  double operator()(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }

 private:
  std::mt19937_64 engine_{20};
};

TEST(Rays, GoStraightWithoutInterfaces) {
  RaySolver solver({{MetresPerSecond(6320.0)}, {}}, point(1e-3, 0.0, 2e-3));
  EXPECT_NEAR(solver.time_to(point(4e-3, 0.012, 6e-3)), 13e-3 / 6320.0, 1e-18);
}

TEST(Rays, AreRefractedByTiltedPlanesInLeastTime) {
  Random random;
  for (int k = 0; k < 40; ++k) {
    const double tilt = random(-0.4, 0.4);
    const double depth = random(-2e-3, 2e-3);
    const auto at = [&](double x) { return depth + x * std::tan(tilt); };
    const Vector2 a{-0.1, at(-0.1)}, b{0.1, at(0.1)};
    const double x1 = random(-0.03, 0.03), x2 = random(-0.03, 0.03);
    const Point from = point(x1, at(x1) - random(1e-3, 0.04)), to = point(x2, at(x2) + random(0.5e-3, 0.06));
    const double c1 = random(1000.0, 3000.0), c2 = random(2500.0, 7000.0);
    RaySolver solver(refraction(shared({line_segment(a, b)}), c1, c2), from);
    std::vector<Vector2> places;
    const double time = solver.time_to(to, &places);
    const Curve curve = [&](long double u) { return Place{a.x + u * (b.x - a.x), a.z + u * (b.z - a.z), 0}; };
    const auto least = brute::through({from.x.value, from.z.value, 0}, {to.x.value, to.z.value, 0}, curve, c1, c2);
    EXPECT_NEAR(time, static_cast<double>(least.time), tolerance);
    ASSERT_EQ(places.size(), 1u);
    // Snell, by the angles themselves.
    const Vector2 tangent{std::cos(tilt), std::sin(tilt)};
    const Vector2 in = places[0] - Vector2{from.x.value, from.z.value}, out = Vector2{to.x.value, to.z.value} - places[0];
    EXPECT_NEAR(dot(in, tangent) / length(in) / c1, dot(out, tangent) / length(out) / c2, 1e-9 / c1);
  }
}

TEST(Rays, EndJustBelowATiltedPlane) {
  // There the time's slope along the plane is nearly a step, which Newton's method alone does not find.
  const double slope = std::tan(3.5 * std::numbers::pi / 180.0);
  const Vector2 a{-0.5, -0.5 * slope}, b{0.5, 0.5 * slope};
  const Curve curve = [&](long double u) { return Place{a.x + u * (b.x - a.x), a.z + u * (b.z - a.z), 0}; };
  const Point from = point(4.5e-3, -8e-3);
  RaySolver solver(refraction(shared({line_segment(a, b)}), 1480.0, 6320.0), from);
  for (int k = 0; k < 40; ++k) {
    const double x = 4.6e-3 + 0.1e-3 * k;
    for (const double below : {1e-6, 0.05e-3, 0.2e-3, 0.4e-3}) {
      const Point to = point(x, x * slope + below);
      const auto least =
          brute::through({from.x.value, from.z.value, 0}, {to.x.value, to.z.value, 0}, curve, 1480.0, 6320.0, 20000);
      EXPECT_NEAR(solver.time_to(to), static_cast<double>(least.time), tolerance) << x << ", " << below;
    }
  }
}

TEST(Rays, AreRefractedByCylindersInLeastTime) {
  Random random;
  for (int k = 0; k < 40; ++k) {
    const double radius = random(0.02, 0.08);
    const Vector2 centre{random(-5e-3, 5e-3), radius};
    // The upper half, from left to right: the part lies inside.
    const auto surface = shared({arc_segment(centre, radius, -std::numbers::pi, std::numbers::pi)});
    const Point from = point(random(-0.01, 0.01), random(-0.03, -5e-3));
    const double depth = random(1e-3, 1.5 * radius), across = random(-0.3, 0.3) * radius;
    const Point to = point(centre.x + across, depth + 0.05 * radius);
    RaySolver solver(refraction(surface, 1480.0, 6320.0), from);
    const Curve curve = [&](long double u) {
      const long double angle = -std::numbers::pi_v<long double> * (1 - u);
      return Place{centre.x + radius * std::cos(angle), centre.z + radius * std::sin(angle), 0};
    };
    const auto least = brute::through({from.x.value, from.z.value, 0}, {to.x.value, to.z.value, 0}, curve, 1480.0, 6320.0);
    EXPECT_NEAR(solver.time_to(to), static_cast<double>(least.time), tolerance) << k;
  }
}

/// A wavy surface of cubics through sampled sines.
std::vector<Segment> waves(double height, double wavelength, int pieces) {
  std::vector<Segment> segments;
  const auto at = [&](double x) { return height * std::sin(2.0 * std::numbers::pi * x / wavelength); };
  const auto slope = [&](double x) {
    return height * 2.0 * std::numbers::pi / wavelength * std::cos(2.0 * std::numbers::pi * x / wavelength);
  };
  const double step = 0.1 / pieces;
  for (int k = 0; k < pieces; ++k) {
    const double a = -0.05 + k * step, b = a + step;
    segments.push_back(cubic_segment({a, at(a)}, {step, step * slope(a)}, {b, at(b)}, {step, step * slope(b)}));
  }
  return segments;
}

TEST(Rays, AreRefractedByProfilesInLeastTimeOfSeveralMinima) {
  Random random;
  const std::vector<Segment> segments = waves(1.5e-3, 12e-3, 200);
  const auto surface = shared(segments);
  const Curve curve = [&](long double u) {
    const auto k = std::min<std::size_t>(segments.size() - 1, static_cast<std::size_t>(u * segments.size()));
    const long double t = u * segments.size() - k;
    const Segment& s = segments[k];
    return Place{s.a.x + t * (s.b.x + t * (s.c.x + t * s.d.x)), s.a.z + t * (s.b.z + t * (s.c.z + t * s.d.z)), 0};
  };
  int rays = 0;
  for (int k = 0; k < 60; ++k) {
    const Point from = point(random(-0.02, 0.02), random(-0.03, -8e-3)), to = point(random(-0.02, 0.02), random(4e-3, 0.03));
    RaySolver solver(refraction(surface, 1480.0, 6320.0), from);
    const auto least =
        brute::through_open({from.x.value, from.z.value, 0}, {to.x.value, to.z.value, 0}, curve, 1480.0, 6320.0, 20000);
    const double time = solver.time_to(to);
    ASSERT_EQ(std::isnan(time), std::isinf(least.time)) << k << ": from " << from.x.value << ", " << from.z.value << " to "
                                                        << to.x.value << ", " << to.z.value << " over u = " << least.u;
    if (std::isnan(time)) continue;  // in the shadow of a crest
    ++rays;
    EXPECT_NEAR(time, static_cast<double>(least.time), tolerance) << k;
  }
  EXPECT_GT(rays, 30);
}

TEST(Rays, AreReflectedWithModeConversionBehindARefractingSurface) {
  Random random;
  const Vector2 left{-0.05, 0.0}, right{0.05, 0.0}, wall_left{-0.05, 0.02}, wall_right{0.05, 0.024};
  const auto front = shared({line_segment(left, right)});
  const auto back = shared({line_segment(wall_left, wall_right)});
  RayPath path{{MetresPerSecond(1480.0), MetresPerSecond(6320.0), MetresPerSecond(3130.0)},
               {{front, false, false}, {back, true, false}}};
  const Curve one = [&](long double u) { return Place{left.x + u * (right.x - left.x), 0, 0}; };
  const Curve two = [&](long double u) {
    return Place{wall_left.x + u * (wall_right.x - wall_left.x), wall_left.z + u * (wall_right.z - wall_left.z), 0};
  };
  for (int k = 0; k < 6; ++k) {
    const Point from = point(random(-0.01, 0.01), random(-0.02, -5e-3)), to = point(random(-0.01, 0.01), random(2e-3, 0.018));
    RaySolver solver(path, from);
    const auto least =
        brute::through_two({from.x.value, from.z.value, 0}, {to.x.value, to.z.value, 0}, one, two, 1480.0, 6320.0, 3130.0);
    EXPECT_NEAR(solver.time_to(to), static_cast<double>(least.time), tolerance) << k;
  }
}

TEST(Rays, TakeTheirWayAlongY) {
  Random random;
  const double radius = 0.04;
  const auto surface = shared({arc_segment({0.0, radius}, radius, -std::numbers::pi, std::numbers::pi)});
  const Curve curve = [&](long double u) {
    const long double angle = -std::numbers::pi_v<long double> * (1 - u);
    return Place{radius * std::cos(angle), radius + radius * std::sin(angle), 0};
  };
  for (int k = 0; k < 8; ++k) {
    const Point from = point(random(-0.01, 0.01), -0.012, random(-0.01, 0.01));
    const Point to = point(random(-0.01, 0.01), 0.02, random(-0.01, 0.01));
    RaySolver solver(refraction(surface, 1480.0, 6320.0), from);
    const auto least = brute::through_with_y({from.x.value, from.z.value, from.y.value}, {to.x.value, to.z.value, to.y.value},
                                             curve, 1480.0, 6320.0);
    EXPECT_NEAR(solver.time_to(to), static_cast<double>(least.time), tolerance) << k;
  }
}

TEST(Rays, FindTheirWayAlongYNearTheCriticalAngle) {
  // A parabola of cubic pieces, met near a joint by rays whose places move far with the slope along y.
  const auto at = [](int n) { return Vector2{1e-3 * n, 5e-6 * n * n}; };
  const auto along = [](int n) { return Vector2{1e-3, 1e-5 * n}; };
  std::vector<Segment> segments;
  for (int k = -8; k < 8; ++k) segments.push_back(cubic_segment(at(k), along(k), at(k + 1), along(k + 1)));
  const auto surface = shared(std::move(segments));
  const Curve curve = [](long double u) {
    const long double x = 8e-3L * (2 * u - 1);
    return Place{x, 5 * x * x, 0};
  };
  for (int k = 0; k < 24; ++k) {
    const Point from = point(0.0, -0.015, -1.1e-3);
    const Point to = point(1.2e-3 + 4e-5 * k, 0.158e-3, 4e-3);
    RaySolver solver(refraction(surface, 1480.0, 6320.0), from);
    const auto least = brute::through_with_y({from.x.value, from.z.value, from.y.value}, {to.x.value, to.z.value, to.y.value},
                                             curve, 1480.0, 6320.0);
    EXPECT_NEAR(solver.time_to(to), static_cast<double>(least.time), tolerance) << k;
  }
}

TEST(Rays, DoNotGoOverCornersOrEndsOrThroughShadows) {
  // A roof whose ridge is nearest: the least time over the ridge is a diffraction.
  const auto roof = shared({line_segment({-0.02, 0.005}, {0.0, 0.0}), line_segment({0.0, 0.0}, {0.02, 0.005})});
  RaySolver over_roof(refraction(roof, 1480.0, 6320.0), point(0.0, -0.01));
  EXPECT_TRUE(std::isnan(over_roof.time_to(point(0.0, 0.01))));
  RaySolver over_slope(refraction(roof, 1480.0, 6320.0), point(0.006, -0.01));
  EXPECT_FALSE(std::isnan(over_slope.time_to(point(0.018, 0.012))));
  // Beyond the surface's end.
  const auto small = shared({line_segment({-0.002, 0.0}, {0.002, 0.0})});
  RaySolver beside(refraction(small, 1480.0, 6320.0), point(0.05, -0.01));
  EXPECT_TRUE(std::isnan(beside.time_to(point(0.05, 0.01))));
  // On the couplant's side.
  EXPECT_TRUE(std::isnan(beside.time_to(point(0.0, -0.001))));
}

TEST(Rays, DoNotGoThroughTheCrestOfAPolyline) {
  const auto polyline = [](const std::vector<Vector2>& points) {
    std::vector<Segment> segments;
    for (std::size_t k = 1; k < points.size(); ++k) segments.push_back(line_segment(points[k - 1], points[k]));
    return shared(std::move(segments));
  };
  const auto flat = polyline({{-0.05, 0.0}, {0.0, 0.0}, {0.05, 0.0}});
  const auto crest = polyline({{-0.05, 0.0}, {-0.002, 0.0}, {0.0, -0.006}, {0.002, 0.0}, {0.05, 0.0}});
  EXPECT_FALSE(flat->shadows());
  EXPECT_TRUE(crest->shadows());
  // From 1 mm above the surface to just below it, the quick way is over it: past the crest, which stands 6 mm high between.
  const Point from = point(-0.01, -0.001), to = point(0.01, 0.0005);
  EXPECT_FALSE(std::isnan(RaySolver(refraction(flat, 3000.0, 1480.0), from).time_to(to)));
  EXPECT_TRUE(std::isnan(RaySolver(refraction(crest, 3000.0, 1480.0), from).time_to(to)));
}

TEST(Surfaces, OfPointsThatCrossThemselvesAreRefused) {
  const std::vector<Vector2> loop{{-0.1, 0.0}, {0.01, 0.0}, {0.01, 0.005}, {0.0, 0.005}, {0.0, -0.002}, {0.1, -0.002}};
  std::vector<Segment> segments;
  for (std::size_t k = 1; k < loop.size(); ++k) segments.push_back(line_segment(loop[k - 1], loop[k]));
  EXPECT_THROW(static_cast<void>(Surface("loop", segments)), InputError) << "bent one way, all around";
  segments.pop_back();
  segments.pop_back();
  EXPECT_NO_THROW(static_cast<void>(Surface("open", segments)));
}

TEST(Rays, OfAPlaneAreThoseOfItsProfileAndOfAHugeCylinder) {
  Random random;
  const auto plane = shared({line_segment({-0.05, 0.0}, {0.05, 0.0})});
  std::vector<Segment> pieces;
  for (int k = 0; k < 50; ++k) pieces.push_back(line_segment({-0.05 + k * 2e-3, 0.0}, {-0.05 + (k + 1) * 2e-3, 0.0}));
  const auto profile = shared(pieces);
  constexpr double huge = 1e4;
  const auto cylinder = shared({arc_segment({0.0, huge}, huge, -0.5 * std::numbers::pi - 5e-6, 1e-5)});
  for (int k = 0; k < 30; ++k) {
    const Point from = point(random(-0.01, 0.01), -0.02), to = point(random(-0.01, 0.01), random(1e-3, 0.04));
    RaySolver a(refraction(plane, 1480.0, 6320.0), from), b(refraction(profile, 1480.0, 6320.0), from),
        c(refraction(cylinder, 1480.0, 6320.0), from);
    const double time = a.time_to(to);
    EXPECT_NEAR(b.time_to(to), time, 1e-15);
    // The huge cylinder sags by x^2 / (2 R) = 5 nm: 3.4 ps of water.
    EXPECT_NEAR(c.time_to(to), time, 4e-12);
  }
}

}  // namespace
}  // namespace echoform
