// Legs through front surfaces in three dimensions, against least times by brute force.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <memory>
#include <numbers>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "delay_laws/delay_law.hpp"
#include "rays/surface_kind.hpp"
#include "tests/rays/spatial_force.hpp"
#include "tests/support/input_error.hpp"

// A namespace of its own: other files of this program have surfaces and velocities too.
namespace echoform::spatial_law {
namespace {

using brute::inner;
using brute::Skin;
using brute::Spot;

constexpr double water = 1480.0;
constexpr double longitudinal = 6320.0;
constexpr double shear = 3130.0;
constexpr double degree = std::numbers::pi / 180.0;
constexpr double stand_off = 15e-3;
/// Nearer to the part's edge than this a place counts on neither side.
constexpr double edge = 1e-6;
/// The rays are good to 1e-12 s; the reference halves steps until the time does not tell them apart, 1e-15 s.
constexpr double solved = 2e-12;
/// Tables add 2^-25 of the spread of a source's times, below 60 us.
constexpr double in_tables = solved + 2e-12;

struct Case {
  std::string name;
  SurfaceDescription front;
  brute::Patch patch;
  /// How far a place lies in the part, m; negative outside.
  std::function<double(const Spot&)> depth;
  int samples = 60;
};

Spot sum(const Spot& a, double k, const Spot& b) {
  return {a.x + k * b.x, a.y + k * b.y, a.z + k * b.z};
}
Spot scaled_to(const Spot& a, double to) {
  return sum({}, to / std::sqrt(inner(a, a)), a);
}

Case tilted_plane() {
  const double along = std::tan(9.0 * degree), across = std::tan(-14.0 * degree);
  const Spot normal{-along, -across, 1.0};
  return {"tilted plane",
          {"[surface]", "plane", {{"z", 1e-3}, {"angle", 9.0}, {"angle_across", -14.0}}, {}},
          [=](double u, double v) {
            const double x = 30e-3 * u, y = 30e-3 * v;
            return Skin{{x, y, 1e-3 + along * x + across * y}, normal};
          },
          [=](const Spot& p) { return (p.z - 1e-3 - along * p.x - across * p.y) / std::sqrt(inner(normal, normal)); }};
}

/// A cylinder whose axis is turned by 35 degrees and goes down by 10. In a bore the elements lie below the middle: further away
/// than the radius times out of a slow couplant are greatest where they are stationary, and no rays.
Case oblique_cylinder(bool inside) {
  const double radius = inside ? 35e-3 : 18e-3;
  const Spot axis{std::cos(10.0 * degree) * std::sin(35.0 * degree), std::cos(10.0 * degree) * std::cos(35.0 * degree),
                  std::sin(10.0 * degree)};
  const Spot crown{1e-3, -2e-3, inside ? 9e-3 : 0.5e-3};
  // Up the steepest way that is square to the axis.
  const Spot up = scaled_to(sum({0.0, 0.0, -1.0}, axis.z, axis), 1.0);
  const Spot side{axis.y * up.z - axis.z * up.y, axis.z * up.x - axis.x * up.z, axis.x * up.y - axis.y * up.x};
  const Spot middle = sum(crown, inside ? radius : -radius, up);
  const double facing = inside ? -1.0 : 1.0;
  return {inside ? "bore" : "rod",
          {"[surface]",
           "cylinder",
           {{"radius", radius}, {"x", crown.x}, {"y", crown.y}, {"z", crown.z}, {"turn", 35.0}, {"dip", 10.0}},
           {{"side", inside ? "inside" : "outside"}}},
          [=](double u, double v) {
            const double angle = 89.9 * degree * u;
            const Spot out = sum(sum({}, facing * std::cos(angle), up), std::sin(angle), side);
            return Skin{sum(sum(middle, radius, out), 40e-3 * v, axis), sum({}, -facing, out)};
          },
          [=](const Spot& p) {
            const Spot from = p - middle;
            const Spot off = sum(from, -inner(from, axis), axis);
            return facing * (radius - std::sqrt(inner(off, off)));
          }};
}

Case sphere(bool inside) {
  const double radius = inside ? 40e-3 : 22e-3;
  const Spot crown{-1e-3, 2e-3, inside ? 12e-3 : 0.2e-3};
  const Spot centre = sum(crown, inside ? -radius : radius, {0.0, 0.0, 1.0});
  const double facing = inside ? -1.0 : 1.0;
  return {inside ? "hollow" : "ball",
          {"[surface]",
           "sphere",
           {{"radius", radius}, {"x", crown.x}, {"y", crown.y}, {"z", crown.z}},
           {{"side", inside ? "inside" : "outside"}}},
          [=](double u, double v) {
            const Spot out = scaled_to({2.5 * u, 2.5 * v, -facing}, radius);
            return Skin{sum(centre, 1.0, out), sum({}, -facing, out)};
          },
          [=](const Spot& p) { return facing * (radius - brute::apart(p, centre)); },
          90};
}

/// A profile of `lines` that is written to a file, about an axis through `origin`.
struct Turned {
  SurfaceDescription front;
  Spot origin, axis, across, beside;

  Turned(const std::string& name, const std::string& lines, const Spot& at, double turn, double dip, const std::string& side)
      : origin(at),
        axis{std::cos(dip * degree) * std::sin(turn * degree), std::cos(dip * degree) * std::cos(turn * degree),
             std::sin(dip * degree)} {
    // In the plane of x and z the axis is never all there is.
    across = scaled_to(sum({1.0, 0.0, 0.0}, -axis.x, axis), 1.0);
    beside = {axis.y * across.z - axis.z * across.y, axis.z * across.x - axis.x * across.z,
              axis.x * across.y - axis.y * across.x};
    const std::string file = testing::TempDir() + "echoform_turned_" + name + "_" + std::to_string(getpid()) + ".csv";
    std::ofstream(file) << lines;
    front = {"[surface]",
             "revolved",
             {{"x", at.x}, {"y", at.y}, {"z", at.z}, {"turn", turn}, {"dip", dip}},
             {{"file", file}, {"side", side}}};
  }

  /// Of a place along the axis, its distance from it, and how much that grows along it.
  [[nodiscard]] Skin skin(double along, double out, double grows, double angle, double facing) const {
    const Spot away = sum(sum({}, std::cos(angle), across), std::sin(angle), beside);
    return {sum(sum(origin, along, axis), out, away), sum(sum({}, -facing, away), facing * grows, axis)};
  }
  [[nodiscard]] double along(const Spot& p) const { return inner(p - origin, axis); }
  [[nodiscard]] double out(const Spot& p) const {
    const Spot off = sum(p - origin, -along(p), axis);
    return std::sqrt(inner(off, off));
  }
};

/// All around and somewhat more, so that every place lies within.
constexpr double around = 1.2 * std::numbers::pi;

/// A blunt tip, upwards, on a rod. Over a sharper one nearly all least times lie at the tip.
Case cone() {
  const Turned turned("cone", "0,0\n0.005,0.03\n0.04,0.03\n", {1e-3, -1e-3, 0.5e-3}, 0.0, 90.0, "outside");
  return {"cone", turned.front,
          [=](double u, double v) {
            // Denser towards the tip.
            const double along = 1.25e-3 * (1.0 + u) * (1.0 + u);
            return turned.skin(along, 6.0 * along, 6.0, around * v, 1.0);
          },
          [=](const Spot& p) {
            return std::min(
                {(6.0 * turned.along(p) - turned.out(p)) / std::hypot(1.0, 6.0), 30e-3 - turned.out(p), 40e-3 - turned.along(p)});
          },
          100};
}

/// An arc of 50 mm over 40 mm of the axis that bulges away from it or towards it.
Case barrel(bool waist) {
  const double bulge = waist ? -1.0 : 1.0;
  const double ends = waist ? 14e-3 : 10e-3;
  const double middle = ends - bulge * std::sqrt(50e-3 * 50e-3 - 20e-3 * 20e-3);
  const Turned turned(waist ? "waist" : "barrel", waist ? "-0.02,0.014\n0.02,0.014,-0.05\n" : "-0.02,0.010\n0.02,0.010,0.05\n",
                      {0.5e-3, 1e-3, 15e-3}, 20.0, 5.0, "outside");
  return {waist ? "waist" : "barrel", turned.front,
          [=](double u, double v) {
            const double angle = std::asin(0.4) * u;
            return turned.skin(50e-3 * std::sin(angle), middle + bulge * 50e-3 * std::cos(angle), -bulge * std::tan(angle),
                               around * v, 1.0);
          },
          [=](const Spot& p) {
            return std::min(bulge * (50e-3 - std::hypot(turned.along(p), turned.out(p) - middle)),
                            20e-3 - std::abs(turned.along(p)));
          },
          100};
}

Case conical_bore() {
  const Turned turned("bore", "-0.04,0.030\n0.04,0.036\n", {-0.5e-3, 1e-3, -20e-3}, 20.0, 3.0, "inside");
  const auto wall = [](double along) { return 33e-3 + 0.075 * along; };
  return {"conical bore", turned.front,
          [=](double u, double v) { return turned.skin(40e-3 * u, wall(40e-3 * u), 0.075, around * v, -1.0); },
          [=](const Spot& p) {
            return std::min((turned.out(p) - wall(turned.along(p))) / std::hypot(1.0, 0.075), 40e-3 - std::abs(turned.along(p)));
          },
          100};
}

/// 2 x 2 elements, the last one far to the side.
Acquisition four_elements() {
  Acquisition acquisition;
  acquisition.probe = make_matrix_probe({.columns = 2,
                                         .rows = 2,
                                         .pitch = Metres(6e-3),
                                         .row_pitch = Metres(5e-3),
                                         .width = Metres(0.5e-3),
                                         .length = Metres(0.5e-3)},
                                        Hertz(5e6), Hertz(3e6));
  for (Element& element : acquisition.probe.elements) element.centre.z = Metres(-stand_off);
  acquisition.probe.elements.back().centre = {Metres(8e-3), Metres(-7e-3), Metres(-stand_off)};
  acquisition.samples = 1024;
  acquisition.sample_rate = Hertz(100e6);
  return acquisition;
}

Scene immersed(const SurfaceDescription& front) {
  Scene scene;
  scene.couplant = MetresPerSecond(water);
  scene.spatial_surface = make_any_surface(front).spatial;
  return scene;
}

DelayLaw law_of(const SurfaceDescription& front, const std::string& view) {
  const Material aluminium{MetresPerSecond(longitudinal), MetresPerSecond(shear)};
  return make_delay_law("immersion", {four_elements(), aluminium, view, immersed(front)});
}

Spot spot(const Point& p) {
  return {p.x.value, p.y.value, p.z.value};
}

class SpatialLaw : public testing::TestWithParam<int> {
 protected:
  static std::vector<Case> cases() {
    return {tilted_plane(), oblique_cylinder(false), oblique_cylinder(true), sphere(false), sphere(true),
            cone(),         barrel(false),           barrel(true),           conical_bore()};
  }
};

TEST_P(SpatialLaw, HasTheLeastTimesToPlacesAtRandom) {
  const Case test = cases()[static_cast<std::size_t>(GetParam())];
  SCOPED_TRACE(test.name);
  const DelayLaw law = law_of(test.front, "LT");
  const Acquisition acquisition = four_elements();
  std::mt19937 random(71);
  std::uniform_real_distribution<double> across(-9e-3, 9e-3), down(-1e-3, 30e-3);
  std::size_t reached = 0, outside = 0;
  for (int k = 0; k < 40; ++k) {
    const Point pixel{Metres(across(random)), Metres(across(random)), Metres(down(random))};
    const double depth = test.depth(spot(pixel));
    if (std::abs(depth) < edge) continue;
    for (std::size_t source = 0; source < acquisition.probe.elements.size(); ++source) {
      for (const auto& [leg, velocity] : {std::pair{law.transmit, longitudinal}, std::pair{law.receive, shear}}) {
        double found = 0.0;
        leg->travel_times(source, {&pixel, 1}, {&found, 1});
        if (depth < 0.0) {
          EXPECT_TRUE(std::isnan(found));
          ++outside;
          continue;
        }
        const auto expected = brute::least_time(spot(acquisition.probe.elements[source].centre), spot(pixel), test.patch, water,
                                                velocity, test.samples);
        ASSERT_EQ(std::isnan(found), !expected.found());
        if (!expected.found()) continue;
        ASSERT_NEAR(found, expected.time, solved) << k << ", element " << source << ", " << velocity << " m/s, at "
                                                  << pixel.x.value << ", " << pixel.y.value << ", " << pixel.z.value;
        ++reached;
      }
    }
  }
  EXPECT_GT(reached, 100U);
  EXPECT_GT(outside, 5U);
}

TEST_P(SpatialLaw, TablesOfVolumesAndPlanesHoldTheSame) {
  const Case test = cases()[static_cast<std::size_t>(GetParam())];
  SCOPED_TRACE(test.name);
  const DelayLaw law = law_of(test.front, "LL");
  const Axis x{Metres(-8e-3), Metres(9e-3), 9}, z{Metres(0.1e-3), Metres(21e-3), 8};
  for (const Axis& y : {Axis{Metres(-6e-3), Metres(7e-3), 4}, Axis{Metres(1.5e-3), Metres(1.5e-3), 1}}) {
    const Grid grid{x, z, y};
    const auto table = law.transmit->tabulated(grid, 2);
    ASSERT_NE(table, nullptr);
    const std::vector<Point> points = grid.points();
    std::vector<double> exact(points.size()), found(points.size());
    for (std::size_t source = 0; source < law.transmit->sources(); ++source) {
      law.transmit->travel_times(source, points, exact);
      table->travel_times(source, points, found);
      for (std::size_t k = 0; k < points.size(); ++k) {
        ASSERT_EQ(std::isnan(exact[k]), std::isnan(found[k])) << k;
        // In a hollow some places of the part lie beyond the critical angle too.
        ASSERT_TRUE(test.depth(spot(points[k])) > 1e-9 || std::isnan(exact[k])) << k;
        if (std::isnan(exact[k])) continue;
        ASSERT_NEAR(found[k], exact[k], in_tables) << k;
      }
    }
  }
}

TEST_P(SpatialLaw, WavesLeaveTowardsWhereTheLeastRayMeetsTheSurface) {
  const Case test = cases()[static_cast<std::size_t>(GetParam())];
  SCOPED_TRACE(test.name);
  const DelayLaw law = law_of(test.front, "LL");
  const Grid grid{{Metres(-5e-3), Metres(5e-3), 3}, {Metres(14e-3), Metres(18e-3), 2}, {Metres(-4e-3), Metres(4e-3), 3}};
  const auto table = law.transmit->tabulated(grid, 1, Seconds(0.0), true);
  const std::vector<Point> points = grid.points();
  std::vector<double> found(points.size());
  const Acquisition acquisition = four_elements();
  for (std::size_t source = 0; source < law.transmit->sources(); ++source) {
    table->departures()->cosines(source, points, found);
    const Spot from = spot(acquisition.probe.elements[source].centre);
    for (std::size_t k = 0; k < points.size(); ++k) {
      if (test.depth(spot(points[k])) < edge) continue;
      const auto least = brute::least_time(from, spot(points[k]), test.patch, water, longitudinal, test.samples);
      EXPECT_EQ(std::isnan(found[k]), !least.found()) << source << ", " << k;
      if (!least.found()) continue;
      const Spot at = test.patch(least.u, least.v).at;
      // What differences of times are good for (ray_departures.hpp).
      EXPECT_NEAR(found[k], (at.z - from.z) / brute::apart(at, from), 2e-4) << source << ", " << k;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SpatialLaw, testing::Range(0, 9));

TEST(SpatialLaws, OfViewsThatSkipWantABackwall) {
  EXPECT_EQ(test::input_error([] { static_cast<void>(law_of(sphere(false).front, "TT-T")); }),
            "[backwall] kind: found no backwall; expected one for a view that skips: its rays are reflected there");
}

TEST(SpatialLaws, KindsSayWhatTheyDoNotTake) {
  const auto made = [](SurfaceDescription d) { return test::input_error([&] { static_cast<void>(make_any_surface(d)); }); };
  EXPECT_EQ(made({"[surface]", "sphere", {}, {}}),
            "[surface] radius: found no value; expected a number in m, which kind = \"sphere\" needs");
  EXPECT_EQ(made({"[surface]", "sphere", {{"radius", 0.02}}, {{"side", "left"}}}),
            "[surface] side: found \"left\"; expected \"outside\" or \"inside\"");
  EXPECT_EQ(made({"[surface]", "cylinder", {{"radius", 0.02}, {"dip", 85.0}}, {}}),
            "[surface] dip: found 85; expected a number in degrees, -80 to 80");
  EXPECT_EQ(test::input_error([] {
              static_cast<void>(make_surface({"[backwall]", "sphere", {{"radius", 0.02}}, {}}));
            }),
            "[backwall]: found a sphere in three dimensions; expected what is drawn out along y: a plane that is not tilted "
            "across, a cylinder along y, a profile");
}

TEST(SpatialLaws, WithAnAxisAlongYCylindersAndPlanesAreTheCurvesThatTheyWere) {
  EXPECT_NE(make_any_surface({"[surface]", "cylinder", {{"radius", 0.02}, {"turn", 0.0}}, {}}).curve, nullptr);
  EXPECT_NE(make_any_surface({"[surface]", "plane", {{"angle", 20.0}, {"angle_across", 0.0}}, {}}).curve, nullptr);
}

}  // namespace
}  // namespace echoform::spatial_law
