// Rays just below flat and curved fronts, shadows and sides, against exact geometry of the curves themselves.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "rays/crossing_math.hpp"
#include "rays/ray_field.hpp"
#include "tests/rays/exact_rays.hpp"

namespace echoform::near_surface_test {
namespace {

constexpr double pi = std::numbers::pi;
/// 1/200,000 of the period at 5 MHz, as fields owe; the reference is good to 1e-17 s.
constexpr double tolerance = 1e-12;
constexpr double water = 1480.0;

struct Front {
  std::string name;
  std::vector<Segment> segments;
};

Front rod(double radius) {
  return {"rod of " + std::to_string(radius), {arc_segment({0.0, radius}, radius, -pi, pi)}};
}
Front bore(double radius) {
  return {"bore of " + std::to_string(radius), {arc_segment({0.0, -radius}, radius, pi, -pi)}};
}

/// Cubics over a metre with the heights and slopes of `height` at `count` points.
template <class Height, class Slope>
Front profile(const std::string& name, int count, Height height, Slope slope) {
  Front front{name + " of " + std::to_string(count) + " points", {}};
  const double step = 1.0 / (count - 1);
  for (int k = 0; k + 1 < count; ++k) {
    const double from = -0.5 + k * step;
    const double to = from + step;
    front.segments.push_back(
        cubic_segment({from, height(from)}, {step, step * slope(from)}, {to, height(to)}, {step, step * slope(to)}));
  }
  return front;
}
Front flat(int count) {
  return profile(
      "flat profile", count, [](double) { return 0.0; }, [](double) { return 0.0; });
}
Front bowed(int count, double bend) {
  return profile(
      "bow", count, [=](double x) { return 0.5 * bend * x * x; }, [=](double x) { return bend * x; });
}
Front wavy(int count, double high, double long_) {
  const double number = 2.0 * pi / long_;
  return profile(
      "wave", count, [=](double x) { return high * std::sin(number * x); },
      [=](double x) { return high * number * std::cos(number * x); });
}

std::shared_ptr<const Surface> surface_of(const Front& front) {
  return std::make_shared<const Surface>(front.name, front.segments);
}
RayPath through(std::shared_ptr<const Surface> surface, double into) {
  return {{MetresPerSecond(water), MetresPerSecond(into)}, {{std::move(surface), false, false}}};
}
Point at(Vector2 place) {
  return {Metres(place.x), Metres(0.0), Metres(place.z)};
}
exact::Place plain(const Point& point) {
  return {point.x.value, point.z.value};
}

/// `depth` below the place of the curve at `x`; above it where that is less than 0.
Vector2 below(const exact::Curve& curve, double x, double depth) {
  exact::Real low = 0, high = curve.end();
  for (int k = 0; k < 80; ++k) {
    const exact::Real middle = (low + high) / 2;
    (curve.at(middle).x < x ? low : high) = middle;
  }
  const exact::Place place = curve.at(low), along = curve.along(low);
  const exact::Real size = exact::length(along);
  return {static_cast<double>(place.x - depth * along.z / size), static_cast<double>(place.z + depth * along.x / size)};
}

std::vector<SimdLevel> levels() {
  std::vector<SimdLevel> all;
  for (const SimdLevel level : {SimdLevel::portable, SimdLevel::avx2, SimdLevel::avx512}) {
    if (level <= simd_level()) all.push_back(level);
  }
  return all;
}

void expect_exact(const Front& front, double into, const std::vector<Point>& sources, const std::vector<Point>& points) {
  const exact::Curve curve(front.segments);
  const RayPath path = through(surface_of(front), into);
  std::vector<std::vector<double>> fields;
  for (const SimdLevel level : levels()) {
    fields.emplace_back(sources.size() * points.size());
    make_ray_field(path, sources, level)->times(0, sources.size(), points, fields.back());
  }
  for (std::size_t source = 0; source < sources.size(); ++source) {
    RaySolver solver(path, sources[source]);
    for (std::size_t k = 0; k < points.size(); ++k) {
      const exact::Ray ray = exact::through(curve, plain(sources[source]), plain(points[k]), water, into, 300);
      const auto expect = [&](double seconds, const std::string& by) {
        ASSERT_EQ(std::isnan(seconds), std::isnan(ray.seconds))
            << front.name << " by " << by << ": from " << sources[source].x.value << ", " << sources[source].z.value << " to "
            << points[k].x.value << ", " << points[k].z.value << " at " << into << " m/s, " << ray.minima << " least and "
            << ray.maxima << " greatest times";
        if (!std::isnan(seconds)) {
          ASSERT_NEAR(seconds, static_cast<double>(ray.seconds), tolerance) << front.name << " by " << by;
        }
      };
      expect(solver.time_to(points[k]), "the solver");
      for (std::size_t n = 0; n < fields.size(); ++n) {
        expect(fields[n][source * points.size() + k], std::string(to_string(levels()[n])));
      }
    }
  }
}

TEST(RaysNearSurfaces, AreThoseOfExactGeometryFromAMicrometreDown) {
  std::vector<Front> fronts{flat(11), flat(101), bowed(11, 1.0), bowed(51, -0.5), wavy(21, 2e-3, 0.4), wavy(500, 1e-4, 0.05)};
  for (const double radius : {0.05, 0.2, 0.5, 0.75, 1.0, 5.0}) {
    fronts.push_back(rod(radius));
    fronts.push_back(bore(radius));
  }
  fronts.push_back({"plane", {line_segment({-0.5, -0.1}, {0.5, 0.1})}});
  for (const Front& front : fronts) {
    const exact::Curve curve(front.segments);
    for (const double into : {5900.0, 3230.0}) {
      std::vector<Point> points;
      for (const double depth : {1e-6, 1e-5, 2e-4, 7e-4, 2e-3}) {
        for (const double x : {-0.0061, 0.0052, 0.0185}) points.push_back(at(below(curve, x, depth)));
      }
      expect_exact(front, into, {at(below(curve, 3.1e-3, -0.01))}, points);
    }
  }
}

TEST(RaysNearSurfaces, AreFoundAtEveryPixelBelowNearlyFlatFronts) {
  // The rows of pixels where rays were lost: 0.1 to 0.7 mm below, to the side on which the slope of T is a step.
  for (const Front& front : {rod(0.5), rod(1.0), flat(11)}) {
    const exact::Curve curve(front.segments);
    std::vector<Point> points;
    for (int row = 1; row <= 7; ++row) {
      for (int column = 0; column < 12; ++column) points.push_back(at(below(curve, 0.5e-3 * column + 0.2e-3, 0.1e-3 * row)));
    }
    expect_exact(front, 5900.0, {at(below(curve, 3.1e-3, -0.01))}, points);
  }
}

TEST(RaysNearSurfaces, AreFoundWhereAGreatestTimeLiesBetweenTheSameNodes) {
  // Waves of three nodes each: the slopes at the nodes know nothing of two turns between them.
  constexpr int count = 271;
  const Front front = wavy(count, 2e-4, 3.0 / (count - 1));
  const exact::Curve curve(front.segments);
  std::vector<Point> points;
  for (const double x : {-33.6e-3, -33.2e-3, -19.6e-3, -19.2e-3, 38.0e-3, 38.4e-3, 38.8e-3}) {
    for (const double depth : {24e-6, 44e-6, 84e-6}) points.push_back(at(below(curve, x, depth)));
  }
  expect_exact(front, 5900.0, {at({3.1e-3, -0.1})}, points);
}

TEST(CrossingMath, FindsRaysBetweenNearlyStraightSidesOfAStep) {
  // Newton's method alone goes to and fro between t = 0.49 and 0.72 without end.
  const rays::CurvePiece piece{{0.0, 0.0}, {0.1 / 13.0, 0.0}, {}, {}, 0.0};
  const rays::CrossingEnds ends{{3.1e-3, -0.01}, {5.2e-3, 2e-4}, 1.0 / water, 1.0 / 5900.0};
  const rays::FoundCrossing found = rays::find_crossing(piece, ends, {-1.0, 1.0}, 0.45, rays::most_crossing_steps);
  ASSERT_TRUE(found.finished);
  EXPECT_TRUE(found.on_its_way);
  const exact::Ray ray = exact::through(exact::Curve({line_segment({0.0, 0.0}, {0.1 / 13.0, 0.0})}), {3.1e-3, -0.01},
                                        {5.2e-3, 2e-4}, water, 5900.0, 300);
  EXPECT_NEAR(found.time, static_cast<double>(ray.seconds), tolerance);
}

TEST(SurfaceSides, AreThoseOfArcsToRounding) {
  // Half a metre of radius: rounding of places is 1e-16 m. A polygon of its nodes lay up to 36 um beside.
  constexpr double radius = 0.5;
  for (const Front& front : {rod(radius), bore(radius)}) {
    const auto surface = surface_of(front);
    const exact::Real centre = front.segments.front().a.z;
    const exact::Real sign = centre > 0 ? 1 : -1;
    for (int k = 0; k < 2000; ++k) {
      const double angle = (0.02 + 0.96 * k / 2000.0) * pi;
      for (const double depth : {-1e-3, -3e-5, -1e-9, 1e-9, 3e-5, 1e-3, 0.2}) {
        const double from_centre = radius - static_cast<double>(sign) * depth;
        const Vector2 place{from_centre * std::cos(angle),
                            static_cast<double>(centre) - static_cast<double>(sign) * from_centre * std::sin(angle)};
        const exact::Real expected = sign * (radius - exact::length({place.x, place.z - centre}));
        ASSERT_NEAR(surface->signed_distance(place), static_cast<double>(expected), 1e-15) << front.name << ", " << angle;
      }
    }
  }
}

TEST(SurfaceSides, AreThoseOfSplinesToRounding) {
  const Front front = wavy(31, 2e-3, 0.2);
  const auto surface = surface_of(front);
  const exact::Curve curve(front.segments);
  for (int k = 0; k < 60; ++k) {
    const double x = -0.45 + 0.9 * k / 60.0;
    for (const double depth : {-1e-3, -1e-9, 1e-9, 2e-5, 4e-3}) {
      const Vector2 place = below(curve, x, depth);
      // The nearest place of a gentle curve is the one that it was laid below.
      ASSERT_NEAR(surface->signed_distance(place), depth, 2e-16) << x;
      const SurfaceFoot foot = surface->foot(place);
      EXPECT_NEAR(length(surface->point(foot.place).at - foot.at), 0.0, 1e-15);
      EXPECT_NEAR(length(foot.at - below(curve, x, 0.0)), 0.0, 1e-9);
    }
  }
}

TEST(SurfaceCrossings, AreThoseOfTheArcNotOfItsChords) {
  for (const double radius : {0.05, 0.5, 5.0}) {
    const auto crest = surface_of(rod(radius));
    for (const double shift : {0.0, 1e-3, 4.7e-3}) {
      const auto crosses = [&](double z) { return crest->crosses({-0.04 + shift, z}, {0.04 + shift, z}); };
      EXPECT_TRUE(crosses(1e-11)) << radius;
      EXPECT_FALSE(crosses(-1e-11)) << radius;
    }
  }
}

TEST(SurfaceCrossings, LeaveOutTheEndsThatArePlacesOfTheSurface) {
  const auto rim = surface_of(bore(0.5));
  // From a place of a hollow, a nanoradian above its tangent and below: the way above comes back at 2 R sin.
  for (const double t : {0.5, 0.4987, 0.5021}) {
    const SurfacePlace place{0, t};
    const CurvePoint here = rim->point(place);
    const Vector2 along = (1.0 / length(here.first)) * here.first;
    const Vector2 up{along.z, -along.x};
    for (const double rise : {1e-3, 1e-6}) {
      const double back = 2.0 * 0.5 * std::sin(rise);
      const auto leaves = [&](double by, double far) {
        return rim->crosses(here.at, here.at + far * along + (far * by) * up, &place);
      };
      EXPECT_FALSE(leaves(rise, 0.5 * back)) << t << ", " << rise;
      EXPECT_TRUE(leaves(rise, 2.0 * back)) << t << ", " << rise;
      EXPECT_FALSE(leaves(-rise, 0.02)) << t << ", " << rise;
    }
  }
}

TEST(RayShadows, EndWhereThoseOfExactGeometryDo) {
  const Front front = wavy(21, 6e-3, 0.2);
  const exact::Curve curve(front.segments);
  const RayPath path = through(surface_of(front), 3230.0);
  const Point source = at(below(curve, -0.02, -4e-3));
  RaySolver solver(path, source);
  const auto field = make_ray_field(path, {source});
  const auto point_at = [&](double x) { return at(below(curve, x, 3e-4)); };
  const auto lit = [&](double x) {
    return !std::isnan(exact::through(curve, plain(source), plain(point_at(x)), water, 3230.0, 300).seconds);
  };
  int edges = 0;
  constexpr double step = 2e-3;
  for (double x = -0.08; x < 0.08; x += step) {
    double low = x, high = x + step;
    const bool begins = lit(low);
    if (begins == lit(high)) continue;
    while (high - low > 1e-12) {
      const double middle = 0.5 * (low + high);
      (lit(middle) == begins ? low : high) = middle;
    }
    ++edges;
    // What rounding of times of 1e-5 s leaves of a place where legs are millimetres long.
    constexpr double rounding = 1e-8;
    for (const bool before : {true, false}) {
      const Point point = point_at(low + (before ? -rounding : rounding));
      double seconds = 0.0;
      field->times(0, 1, std::span(&point, 1), std::span(&seconds, 1));
      EXPECT_EQ(!std::isnan(seconds), before == begins) << "field, edge at " << low;
      EXPECT_EQ(!std::isnan(solver.time_to(point)), before == begins) << "solver, edge at " << low;
    }
  }
  EXPECT_GE(edges, 1);
}

}  // namespace
}  // namespace echoform::near_surface_test
