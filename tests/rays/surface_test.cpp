// On which side of a surface a place lies: against polygons, point by point.
#include "rays/surface.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

namespace echoform::surface_test {
namespace {

using Points = std::vector<Vector2>;

constexpr double degree = std::numbers::pi / 180.0;

Surface lines(const Points& points) {
  std::vector<Segment> segments;
  for (std::size_t k = 1; k < points.size(); ++k) segments.push_back(line_segment(points[k - 1], points[k]));
  return Surface("lines", std::move(segments));
}

/// Even-odd rule: whether a ray from `at` in a direction that no corner lies in leaves the polygon.
bool within(const Points& polygon, Vector2 at) {
  bool inside = false;
  for (std::size_t k = 0; k < polygon.size(); ++k) {
    const Vector2 a = polygon[k];
    const Vector2 b = polygon[(k + 1) % polygon.size()];
    if ((a.z > at.z) == (b.z > at.z)) continue;
    if (at.x < a.x + (at.z - a.z) / (b.z - a.z) * (b.x - a.x)) inside = !inside;
  }
  return inside;
}

/// What a front from left to right has below it: closed far away.
Points part_below(Points front) {
  front.push_back({front.back().x, 1.0});
  front.push_back({front.front().x, 1.0});
  return front;
}

double distance_to(const Points& points, Vector2 at) {
  double least = 1e300;
  for (std::size_t k = 1; k < points.size(); ++k) {
    const Vector2 along = points[k] - points[k - 1];
    const double share = std::clamp(dot(at - points[k - 1], along) / dot(along, along), 0.0, 1.0);
    const Vector2 way = at - points[k - 1] - share * along;
    least = std::min(least, std::hypot(way.x, way.z));
  }
  return least;
}

/// A level front with a V whose walls open by `opening`, `depth` deep (a groove) or high (less than 0: a spike), the walls
/// leaning by `lean` to one side.
Points front_with_v(double opening, double depth, double lean) {
  const double left = depth * std::tan(0.5 * opening + lean);
  const double right = depth * std::tan(0.5 * opening - lean);
  const double sign = depth > 0.0 ? 1.0 : -1.0;
  return {{-0.05, 0.0}, {-sign * left, 0.0}, {0.0, depth}, {sign * right, 0.0}, {0.05, 0.0}};
}

class Random {
 public:
  double operator()(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }

 private:
  std::mt19937_64 engine_{7};
};

TEST(SurfaceSides, AreThoseOfPolygonsAroundGroovesAndSpikes) {
  Random random;
  int told_by_the_sum = 0;
  for (int opening = 30; opening <= 150; opening += 15) {
    for (const double depth : {4e-3, -4e-3}) {
      const double most = std::min(0.4 * opening, 80.0 - 0.5 * opening);  // so that both walls rise
      const double lean = random(-most, most) * degree;
      const Points front = front_with_v(opening * degree, depth, lean);
      const Points part = part_below(front);
      const Surface curve = lines(front);
      const Surface sampled = Surface::sampled("points", front);
      for (int k = 0; k < 2000; ++k) {
        const Vector2 at{random(-0.02, 0.02), random(-0.01, 0.01)};
        const double distance = distance_to(front, at);
        if (distance < 1e-9) continue;
        const bool below = within(part, at);
        const double expected = below ? distance : -distance;
        // Both are a few roundings of centimetres.
        ASSERT_NEAR(curve.signed_distance(at), expected, 1e-15) << opening << ", " << depth << ", " << at.x << ", " << at.z;
        ASSERT_NEAR(sampled.signed_distance(at), expected, 1e-15);
        const bool at_tip = std::abs(std::hypot(at.x, at.z - depth) - distance) < 1e-15;
        if (at_tip && (cross(front[2] - front[1], at - front[2]) > 0.0) != below) ++told_by_the_sum;
      }
    }
  }
  EXPECT_GT(told_by_the_sum, 100) << "places on whose side the first chord alone is wrong";
}

TEST(SurfaceFeet, OfOneLineOrArcAreThoseOfItsParts) {
  // Of one segment the foot has a form; of several it is searched for.
  Random random;
  constexpr double radius = 12e-3;
  for (const auto& [from, turn] : {std::pair{-std::numbers::pi, std::numbers::pi},
                                   {std::numbers::pi, -std::numbers::pi},
                                   {0.4, 5.5},
                                   {2.0, -6.0},
                                   {-0.3, 0.2}}) {
    const Vector2 centre{1e-3, 2e-3};
    const Surface whole("arc", {arc_segment(centre, radius, from, turn)});
    const Surface parts(
        "arcs", {arc_segment(centre, radius, from, 0.37 * turn), arc_segment(centre, radius, from + 0.37 * turn, 0.63 * turn)});
    for (int k = 0; k < 2000; ++k) {
      const Vector2 at{random(-0.03, 0.03), random(-0.03, 0.03)};
      const SurfaceFoot one = whole.foot(at), other = parts.foot(at);
      ASSERT_NEAR(one.distance, other.distance, 1e-15) << turn << ", " << at.x << ", " << at.z;
      // The nearest place is sure to the root of rounding at the middle alone.
      ASSERT_LT(length(one.at - other.at), 1e-12 / length(at - centre) * radius) << turn << ", " << at.x << ", " << at.z;
      ASSERT_LT(length(whole.point(one.place).at - one.at), 1e-15);
    }
  }
  const Vector2 begin{-20e-3, 3e-3}, end{18e-3, -4e-3};
  const Surface whole("line", {line_segment(begin, end)});
  const Surface parts("lines",
                      {line_segment(begin, begin + 0.3 * (end - begin)), line_segment(begin + 0.3 * (end - begin), end)});
  for (int k = 0; k < 2000; ++k) {
    const Vector2 at{random(-0.03, 0.03), random(-0.03, 0.03)};
    const SurfaceFoot one = whole.foot(at), other = parts.foot(at);
    ASSERT_NEAR(one.distance, other.distance, 1e-15) << at.x << ", " << at.z;
    ASSERT_LT(length(one.at - other.at), 1e-14);
  }
}

TEST(SurfaceSides, AreMirrored) {
  Random random;
  const Points front = front_with_v(60.0 * degree, 4e-3, 0.2);
  Points mirrored;
  for (std::size_t k = front.size(); k-- > 0;) mirrored.push_back({-front[k].x, front[k].z});
  const Surface one = lines(front);
  const Surface other = lines(mirrored);
  for (int k = 0; k < 4000; ++k) {
    const Vector2 at{random(-0.02, 0.02), random(-0.01, 0.02)};
    ASSERT_NEAR(one.signed_distance(at), other.signed_distance({-at.x, at.z}), 1e-15) << at.x << ", " << at.z;
  }
}

TEST(SurfaceSides, OfClosedCurvesGoAroundTheirBeginning) {
  // A star whose curve begins at the tip of a ray: there the last chord and the first meet.
  Random random;
  Points star;
  for (int k = 0; k < 10; ++k) {
    const double radius = k % 2 == 0 ? 10e-3 : 3e-3;
    star.push_back({radius * std::cos(k * 36.0 * degree), radius * std::sin(k * 36.0 * degree)});
  }
  Points around = star;
  around.push_back(star.front());
  Points back(around.rbegin(), around.rend());
  // Clockwise on the screen: what lies within is below.
  const Surface inner = lines(around);
  const Surface outer = lines(back);
  const Surface sampled = Surface::sampled("points", around);
  ASSERT_TRUE(inner.closed());
  for (int k = 0; k < 8000; ++k) {
    const Vector2 at{random(-0.015, 0.015), random(-0.015, 0.015)};
    const double distance = distance_to(around, at);
    const double expected = within(star, at) ? distance : -distance;
    ASSERT_NEAR(inner.signed_distance(at), expected, 1e-15) << at.x << ", " << at.z;
    ASSERT_NEAR(outer.signed_distance(at), -expected, 1e-15) << at.x << ", " << at.z;
    ASSERT_NEAR(sampled.signed_distance(at), expected, 1e-15) << at.x << ", " << at.z;
  }
}

TEST(SurfaceSides, HoldWhereArcsMeetLinesAndPointsRepeat) {
  // Two arcs that bulge into the couplant and meet in a groove, whose walls open by 120 degrees.
  const double radius = 10e-3;
  const Surface arcs("arcs", {arc_segment({-radius * 0.5, 0.0}, radius, -150.0 * degree, 90.0 * degree),
                              arc_segment({radius * 0.5, 0.0}, radius, -120.0 * degree, 90.0 * degree)});
  const Vector2 valley = arcs.point({0, 1.0}).at;
  EXPECT_NEAR(valley.x, 0.0, 1e-15);
  // Above the joint lies couplant to either side, below it is the part.
  for (const double x : {-1e-4, 0.0, 1e-4}) {
    EXPECT_LT(arcs.signed_distance({x, valley.z - 1e-3}), 0.0) << x;
    EXPECT_GT(arcs.signed_distance({x, valley.z + 1e-3}), 0.0) << x;
  }
  const Points front = front_with_v(40.0 * degree, 4e-3, 0.0);
  const Surface repeated =
      Surface::sampled("points", {front[0], front[1], front[2], front[2], front[2], front[3], front[4], front[4]});
  for (const double x : {-1e-3, -1e-4, 1e-4, 1e-3}) EXPECT_GT(repeated.signed_distance({x, 4.5e-3}), 0.0) << x;
  for (const double x : {-1e-5, 1e-5}) EXPECT_LT(repeated.signed_distance({x, 3.5e-3}), 0.0) << x;
}

TEST(SurfaceSides, BeyondAnEndAreThoseOfItsLastLine) {
  const Surface front = lines({{-0.01, 0.0}, {0.0, 0.0}, {0.01, -0.01}});
  EXPECT_GT(front.signed_distance({-0.03, 1e-3}), 0.0);
  EXPECT_LT(front.signed_distance({-0.03, -1e-3}), 0.0);
  EXPECT_GT(front.signed_distance({0.03, -0.028}), 0.0);
  EXPECT_LT(front.signed_distance({0.03, -0.032}), 0.0);
}

}  // namespace
}  // namespace echoform::surface_test
