// Scans all the way around: where pixels of a part that is turned back lie in the whole image, and which pixels a position
// covers.
#include "methods/scan_turns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <optional>
#include <vector>

#include "methods/scan_part.hpp"
#include "methods/scan_settings.hpp"

namespace echoform {
namespace {

constexpr double pi = std::numbers::pi;

Grid some_grid() {
  Grid grid;
  grid.x = {Metres(-3e-3), Metres(5e-3), 9};
  grid.y = {Metres(-1e-3), Metres(1e-3), 3};
  grid.z = {Metres(2e-3), Metres(7e-3), 6};
  return grid;
}

RigidMotion about(double y, double angle = 0.0) {
  RigidMotion motion;
  motion.pivot = {Metres(1.5e-3), Metres(0.2e-3), Metres(4e-3)};
  motion.axis = {0.0, y, 0.0};
  motion.angle = angle;
  return motion;
}

TEST(ScanTurns, PixelsOfATurnedPartLieWhereAPlainTurnHasThem) {
  const Grid whole = some_grid();
  const GridPart part{{2, 1, 1}, {4, 2, 3}};
  for (const double axis : {1.0, -1.0}) {
    for (int quarters = 0; quarters < 4; ++quarters) {
      SCOPED_TRACE(testing::Message() << axis << " " << quarters);
      const TurnedGrid turned = turned_back(whole, part, about(axis), quarters);
      const RigidMotion back = about(axis, -0.5 * pi * quarters);  // by Rodrigues' formula
      std::vector<int> taken(whole.pixels(), 0);
      for (std::size_t z = 0; z < turned.grid.z.count; ++z) {
        for (std::size_t y = 0; y < turned.grid.y.count; ++y) {
          for (std::size_t x = 0; x < turned.grid.x.count; ++x) {
            const auto pixel = static_cast<std::size_t>(
                static_cast<std::ptrdiff_t>(turned.places.first) + static_cast<std::ptrdiff_t>(x) * turned.places.along_x +
                static_cast<std::ptrdiff_t>(y) * turned.places.along_y + static_cast<std::ptrdiff_t>(z) * turned.places.along_z);
            ++taken.at(pixel);
            const Point expected = back.of(whole.at(pixel));
            EXPECT_NEAR(turned.grid.x.at(x).value, expected.x.value, 1e-15);
            EXPECT_NEAR(turned.grid.y.at(y).value, expected.y.value, 1e-15);
            EXPECT_NEAR(turned.grid.z.at(z).value, expected.z.value, 1e-15);
          }
        }
      }
      for (std::size_t pixel = 0; pixel < taken.size(); ++pixel) {
        const std::size_t x = pixel % 9;
        const std::size_t y = pixel / 9 % 3;
        const std::size_t z = pixel / 27;
        EXPECT_EQ(taken[pixel], x >= 2 && x < 6 && y >= 1 && z >= 1 && z < 4 ? 1 : 0) << pixel;
      }
    }
  }
}

TEST(ScanTurns, AQuarterIsTakenFromTheAngleToo) {
  for (double angle = -9.0; angle < 9.0; angle += 0.37) {
    const int quarters = quarters_of(angle);
    const RigidMotion left = turned_back(about(1.0, angle), quarters);
    EXPECT_LE(std::abs(left.angle), 0.25 * pi + 1e-12 + (quarters == 0 ? 9.0 : 0.0));
    // Both turns together are the whole one.
    const Point place{Metres(2e-3), Metres(0.0), Metres(9e-3)};
    const Point whole = about(1.0, 0.5 * pi * quarters).of(left.of(place));
    const Point expected = about(1.0, angle).of(place);
    EXPECT_NEAR(whole.x.value, expected.x.value, 1e-15);
    EXPECT_NEAR(whole.z.value, expected.z.value, 1e-15);
  }
}

TEST(ScanTurns, GoAroundWhatIsRoundAboutTheAxis) {
  Configuration configuration;
  ScanSection& scan = section<ScanSection>(configuration);
  scan.path = ScanPath::circle;
  scan.centre = {Metres(0.0), Metres(0.0), Metres(40e-3)};
  EXPECT_TRUE(turns_around(configuration)) << "no surface";
  configuration.surface = {"cylinder", {{"radius", 40e-3}, {"z", 0.0}}, {}};
  configuration.backwall = {"cylinder", {{"radius", 28e-3}, {"z", 12e-3}}, {}};
  EXPECT_TRUE(turns_around(configuration));
  configuration.backwall = {"cylinder", {{"radius", 28e-3}, {"z", 68e-3}}, {{"side", "inside"}}};
  EXPECT_TRUE(turns_around(configuration));
  configuration.backwall.numbers["turn"] = 1.0;
  EXPECT_FALSE(turns_around(configuration));
  configuration.backwall = {"plane", {{"z", 12e-3}}, {}};
  EXPECT_FALSE(turns_around(configuration));
  configuration.backwall = {};
  configuration.surface.numbers["x"] = 1e-5;
  EXPECT_FALSE(turns_around(configuration)) << "an axis beside the path's";
  configuration.surface = {};
  scan.axis = {1.0, 0.0, 0.0};
  EXPECT_FALSE(turns_around(configuration)) << "not along y";
  scan.axis = {0.0, -2.0, 0.0};
  EXPECT_TRUE(turns_around(configuration));
  scan.path = ScanPath::line;
  EXPECT_FALSE(turns_around(configuration));
}

TEST(ScanTurns, ReflectorsAreFoldedToWhereTheProbeBegins) {
  const RigidMotion axis = about(1.0);
  const Point home{axis.pivot.x, Metres(0.0), axis.pivot.z - Metres(50e-3)};
  Phantom part;
  for (double angle = 0.1; angle < 6.2; angle += 0.5) {
    part.points.push_back(
        {"",
         {axis.pivot.x + Metres(0.03 * std::sin(angle)), Metres(1e-3), axis.pivot.z - Metres(0.03 * std::cos(angle))},
         1.0,
         {}});
  }
  for (const PointScatterer& point : folded(part, axis, home).points) {
    const double x = (point.centre.x - axis.pivot.x).value;
    const double z = (point.centre.z - axis.pivot.z).value;
    EXPECT_NEAR(std::hypot(x, z), 0.03, 1e-12);
    EXPECT_LE(std::abs(x), -z * (1.0 + 1e-9)) << "within an eighth of a turn of the top";
  }
}

/// As part_within(), by looking at many places of the slabs' meeting for each layer of pixels: sampled finely, it finds no more
/// than that.
TEST(ScanPart, HoldsWhatLiesBetweenThePlanes) {
  Grid grid;
  grid.x = {Metres(-20e-3), Metres(20e-3), 41};
  grid.y = {Metres(-2e-3), Metres(2e-3), 5};
  grid.z = {Metres(0.0), Metres(30e-3), 31};
  for (const double angle : {0.0, 0.4, 0.785, 1.3, -0.9}) {
    const Direction along{std::cos(angle), 0.0, -std::sin(angle)};
    const Direction before{std::sin(angle), 0.0, std::cos(angle)};
    const Point from{Metres(-2.2e-3), Metres(0.0), Metres(3.3e-3)};
    const std::vector<Slab> slabs{{from, along, -4e-3, 4e-3}, {from, before, 0.0, 12e-3}};
    const auto part = part_within(grid, slabs);
    ASSERT_TRUE(part.has_value());
    // Corners of the rectangle, by hand, where it lies within the grid.
    double low_x = 1.0;
    double high_x = -1.0;
    double low_z = 1.0;
    double high_z = -1.0;
    constexpr int steps = 800;
    for (int i = 0; i <= steps; ++i) {
      for (int k = 0; k <= steps; ++k) {
        const double a = -4e-3 + 8e-3 * i / steps;
        const double b = 12e-3 * k / steps;
        const double x = from.x.value + a * along.x + b * before.x;
        const double z = from.z.value + a * along.z + b * before.z;
        if (std::abs(x) > 20e-3 || z < 0.0 || z > 30e-3) continue;
        low_x = std::min(low_x, x);
        high_x = std::max(high_x, x);
        low_z = std::min(low_z, z);
        high_z = std::max(high_z, z);
      }
    }
    const auto close = [](const Axis& axis, std::size_t first, std::size_t count, double low, double high) {
      // To the sampling's step, 15 um, a pixel's centre is in or out.
      EXPECT_GE(axis.at(first).value, low - 2e-5);
      EXPECT_LE(axis.at(first).value, low + 1e-3 + 2e-5);
      EXPECT_LE(axis.at(first + count - 1).value, high + 2e-5);
      EXPECT_GE(axis.at(first + count - 1).value, high - 1e-3 - 2e-5);
    };
    close(grid.x, part->first[0], part->count[0], low_x, high_x);
    close(grid.z, part->first[2], part->count[2], low_z, high_z);
    EXPECT_EQ(part->count[1], 5U);
  }
  EXPECT_FALSE(part_within(grid, std::vector<Slab>{{{Metres(1.0), {}, {}}, {1.0, 0.0, 0.0}, -0.1, 0.1}}));
  EXPECT_EQ(part_within(grid, {})->count, (std::array<std::size_t, 3>{41, 5, 31}));
}

TEST(ScanPath, WaysAddUpWhateverTheProbeStandsLike) {
  ScanSection scan;
  scan.path = ScanPath::circle;
  scan.centre = {Metres(1e-3), Metres(2e-3), Metres(30e-3)};
  scan.axis = {0.3, -1.0, 0.2};
  // Tilted and turned by itself.
  const Pose odd{{Metres(3e-3), Metres(-2e-3), Metres(5e-3)}, {0.8, 0.6, 0.0}, {-0.48, 0.64, 0.6}};
  const double own = way_of(scan, odd);
  for (double turn = -3.0; turn < 3.0; turn += 0.31) {
    const double found = way_of(scan, moved(odd, motion_by(scan, turn)));
    EXPECT_NEAR(std::remainder(found - own - turn, 2.0 * pi), 0.0, 1e-12);
    EXPECT_NEAR(way_of(scan, moved(Pose{}, motion_by(scan, turn))), turn, 1e-12);
  }
  scan.path = ScanPath::line;
  scan.direction = {3.0, 0.0, 4.0};
  EXPECT_NEAR(way_of(scan, moved(odd, motion_by(scan, 7e-3))) - way_of(scan, odd), 7e-3, 1e-15);
  EXPECT_NEAR(way_of(scan, odd), 0.6 * 3e-3 + 0.8 * 5e-3, 1e-15);
}

}  // namespace
}  // namespace echoform
