// Tables through fronts with a sharp groove or a spike, against brute force, pixels outside of the part included.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "delay_laws/delay_law.hpp"
#include "rays/surface.hpp"
#include "tests/rays/brute_force.hpp"

namespace echoform::groove_test {
namespace {

using brute::Curve;
using brute::Place;

constexpr double water = 1480.0;
constexpr double longitudinal = 6320.0;
constexpr double shear = 3130.0;
/// Both solvers are good to 1e-12 s; tables add 2^-25 of the spread of a source's times, below 60 us here.
constexpr double rounding = 3e-12;

using Front = std::vector<Vector2>;

/// 60 degrees between the walls, 4 mm.
Front groove(double sign) {
  const double half = 4e-3 / std::sqrt(3.0);
  return {{-0.05, 0.0}, {-half, 0.0}, {0.0, sign * 4e-3}, {half, 0.0}, {0.05, 0.0}};
}

/// Even-odd rule over the front, closed far below.
bool in_part(Front polygon, Vector2 at) {
  polygon.push_back({polygon.back().x, 1.0});
  polygon.push_back({polygon.front().x, 1.0});
  bool inside = false;
  for (std::size_t k = 0; k < polygon.size(); ++k) {
    const Vector2 a = polygon[k], b = polygon[(k + 1) % polygon.size()];
    if ((a.z > at.z) != (b.z > at.z) && at.x < a.x + (at.z - a.z) / (b.z - a.z) * (b.x - a.x)) inside = !inside;
  }
  return inside;
}

bool apart(Vector2 a, Vector2 b, Vector2 c, Vector2 d) {
  return cross(b - a, c - a) * cross(b - a, d - a) >= 0.0 || cross(d - c, a - c) * cross(d - c, b - c) >= 0.0;
}

/// The least time over any line of the front, not at its ends, both ways clear of the other lines; NaN without one.
double least_time(const Front& front, Vector2 from, Vector2 to, double velocity) {
  double best = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t line = 1; line < front.size(); ++line) {
    const Vector2 a = front[line - 1], b = front[line];
    const Curve curve = [&](long double u) { return Place{a.x + u * (b.x - a.x), a.z + u * (b.z - a.z), 0}; };
    const auto least = brute::through({from.x, from.z, 0}, {to.x, to.z, 0}, curve, water, velocity, 4);
    if (least.u < 1e-9L || least.u > 1 - 1e-9L) continue;
    const Vector2 at = a + static_cast<double>(least.u) * (b - a);
    // From above this line to below it, and beside every other one.
    bool goes = cross(b - a, from - a) < 0.0 && cross(b - a, to - a) > 0.0;
    for (std::size_t other = 1; other < front.size(); ++other) {
      if (other != line)
        goes = goes && apart(from, at, front[other - 1], front[other]) && apart(at, to, front[other - 1], front[other]);
    }
    if (goes && !(static_cast<double>(least.time) >= best)) best = static_cast<double>(least.time);
  }
  return best;
}

/// Mirror-symmetric probe, grid and front.
void expect_table(const Front& front, double first_depth) {
  std::vector<Segment> segments;
  for (std::size_t k = 1; k < front.size(); ++k) segments.push_back(line_segment(front[k - 1], front[k]));
  Scene scene;
  scene.couplant = MetresPerSecond(water);
  scene.surface = std::make_shared<const Surface>("[surface]", std::move(segments));
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(6, Metres(2.1e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  for (Element& element : acquisition.probe.elements) element.centre.z = Metres(-20e-3);
  const Grid grid{{Metres(-10e-3), Metres(10e-3), 20}, {Metres(first_depth), Metres(20e-3), 20}, {}};
  const std::vector<Point> pixels = grid.points();
  const Material aluminium{MetresPerSecond(longitudinal), MetresPerSecond(shear)};
  const DelayLaw law = make_delay_law("immersion", {acquisition, aluminium, "LT", scene, std::make_shared<LegCache>()});
  std::size_t outside = 0, with_ray = 0;
  for (const auto& [leg, velocity] : {std::pair{law.transmit, longitudinal}, std::pair{law.receive, shear}}) {
    const auto table = leg->tabulated(grid, 1);
    std::vector<double> times(pixels.size()), mirrored(pixels.size());
    for (std::size_t source = 0; source < acquisition.elements(); ++source) {
      table->travel_times(source, pixels, times);
      table->travel_times(acquisition.elements() - 1 - source, pixels, mirrored);
      const Point& element = acquisition.probe.elements[source].centre;
      for (std::size_t k = 0; k < pixels.size(); ++k) {
        const Vector2 at{pixels[k].x.value, pixels[k].z.value};
        const bool inside = in_part(front, at);
        const double expected = inside ? least_time(front, {element.x.value, element.z.value}, at, velocity)
                                       : std::numeric_limits<double>::quiet_NaN();
        outside += inside ? 0 : 1;
        with_ray += std::isnan(expected) ? 0 : 1;
        ASSERT_EQ(std::isnan(times[k]), std::isnan(expected)) << source << " to " << at.x << ", " << at.z;
        if (!std::isnan(expected)) {
          ASSERT_NEAR(times[k], expected, rounding) << source << " to " << at.x << ", " << at.z;
        }
        const std::size_t row = k / grid.x.count, column = k % grid.x.count;
        const double other = mirrored[row * grid.x.count + grid.x.count - 1 - column];
        ASSERT_EQ(std::isnan(times[k]), std::isnan(other)) << source << " to " << at.x << ", " << at.z;
        if (!std::isnan(other)) {
          ASSERT_NEAR(times[k], other, rounding);
        }
      }
    }
  }
  EXPECT_GT(outside, 12U);
  EXPECT_GT(with_ray, 2000U);
}

TEST(Grooves, HaveTheRaysOfLeastTimeAndLoseNoPixel) {
  expect_table(groove(1.0), 0.3e-3);
}

TEST(Spikes, HaveTheRaysOfLeastTimeAndLoseNoPixel) {
  expect_table(groove(-1.0), -4.3e-3);
}

}  // namespace
}  // namespace echoform::groove_test
