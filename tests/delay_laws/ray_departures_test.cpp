// The angles at which rays leave their elements, against the places on the first interface that brute force finds.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "delay_laws/ray_leg.hpp"
#include "rays/surface_kind.hpp"
#include "tests/rays/brute_force.hpp"

// A namespace of its own: other files of this program have surfaces and velocities too.
namespace echoform::departures {
namespace {

using brute::Place;

constexpr double couplant = 1480.0;
constexpr double longitudinal = 6320.0;
constexpr double shear = 3130.0;

/// Three elements askew, 12 mm above the part or on it.
Probe probe_at(double z, double tilt) {
  Probe probe;
  for (const double x : {-6e-3, 0.0, 5e-3}) {
    Element element;
    element.centre = {Metres(x), Metres(0.0), Metres(z)};
    element.normal = {std::sin(tilt), 0.0, std::cos(tilt)};
    probe.elements.push_back(element);
  }
  return probe;
}

struct Case {
  const char* name;
  RayPath path;
  PartBounds bounds;
  Probe probe;
  /// Where the least ray from `from` to `to` meets its first interface.
  std::function<Place(const Place& from, const Place& to)> first;
};

std::shared_ptr<const Surface> surface(std::string_view kind, std::map<std::string, double, std::less<>> numbers) {
  return make_surface({"[surface]", std::string(kind), std::move(numbers), {}});
}

std::vector<Case> cases() {
  std::vector<Case> all;
  const double tilt = 7.0 * std::numbers::pi / 180.0;
  const auto plane = surface("plane", {{"z", 0.0}, {"angle", 7.0}});
  const brute::Curve line = [tilt](long double u) {
    const long double x = -0.04L + 0.08L * u;
    return Place{x, x * std::tan(static_cast<long double>(tilt)), 0};
  };
  all.push_back(
      {"tilted plane",
       {{MetresPerSecond(couplant), MetresPerSecond(shear)}, {{plane, false, false}}},
       {plane, nullptr},
       probe_at(-12e-3, 0.1),
       [line](const Place& from, const Place& to) { return line(brute::through(from, to, line, couplant, shear, 500).u); }});
  const auto rod = surface("cylinder", {{"radius", 40e-3}});
  const brute::Curve crown = [](long double u) {
    const long double angle = -std::numbers::pi_v<long double> * (0.3L + 0.4L * u);
    return Place{40e-3L * std::cos(angle), 40e-3L + 40e-3L * std::sin(angle), 0};
  };
  all.push_back({"rod",
                 {{MetresPerSecond(couplant), MetresPerSecond(longitudinal)}, {{rod, false, false}}},
                 {rod, nullptr},
                 probe_at(-12e-3, -0.2),
                 [crown](const Place& from, const Place& to) {
                   return crown(brute::through(from, to, crown, couplant, longitudinal, 500).u);
                 }});
  const auto wall = surface("plane", {{"z", 25e-3}, {"angle", 7.0}});
  const brute::Curve below = [line](long double u) {
    const Place at = line(u);
    return Place{at.x, at.z + 25e-3L, 0};
  };
  all.push_back({"skip in contact",
                 {{MetresPerSecond(longitudinal), MetresPerSecond(shear)}, {{wall, true, false}}},
                 {nullptr, wall},
                 probe_at(0.0, 0.0),
                 [below](const Place& from, const Place& to) {
                   return below(brute::through(from, to, below, longitudinal, shear, 500).u);
                 }});
  all.push_back(
      {"skip below a rod's front",
       {{MetresPerSecond(couplant), MetresPerSecond(shear), MetresPerSecond(shear)}, {{rod, false, false}, {wall, true, false}}},
       {rod, wall},
       probe_at(-12e-3, 0.0),
       [crown, below](const Place& from, const Place& to) {
         return crown(brute::through_two(from, to, crown, below, couplant, shear, shear, 60).u);
       }});
  return all;
}

TEST(RayDepartures, AreTheWaysToTheFirstInterface) {
  const Grid grid{{Metres(-8e-3), Metres(9e-3), 6}, {Metres(-3e-3), Metres(21e-3), 5}, {}};
  const std::vector<Point> pixels = grid.points();
  for (const Case& c : cases()) {
    const auto leg = make_ray_leg(c.probe, c.path, c.bounds);
    const auto table = leg->tabulated(grid, 2, Seconds(0.0), true);
    EXPECT_EQ(leg->departures()->velocity(), c.path.velocities.front());
    std::vector<double> times(pixels.size()), found(pixels.size()), tabulated(pixels.size());
    std::size_t reached = 0;
    for (std::size_t source = 0; source < c.probe.elements.size(); ++source) {
      const Element& element = c.probe.elements[source];
      leg->travel_times(source, pixels, times);
      leg->departures()->cosines(source, pixels, found);
      table->departures()->cosines(source, pixels, tabulated);
      for (std::size_t k = 0; k < pixels.size(); ++k) {
        ASSERT_EQ(std::isnan(found[k]), std::isnan(times[k])) << c.name << ", pixel " << k;
        ASSERT_EQ(std::isnan(tabulated[k]), std::isnan(times[k])) << c.name << ", pixel " << k;
        if (std::isnan(times[k])) continue;
        ++reached;
        const Place from{element.centre.x.value, element.centre.z.value, 0};
        const Place at = c.first(from, {pixels[k].x.value, pixels[k].z.value, 0});
        const long double expected =
            ((at.x - from.x) * element.normal.x + (at.z - from.z) * element.normal.z) / brute::distance(from, at);
        // Differences over 0.1 mm: see ray_departures.hpp.
        EXPECT_NEAR(found[k], static_cast<double>(expected), 1e-4) << c.name << ", source " << source << ", pixel " << k;
        EXPECT_NEAR(tabulated[k], static_cast<double>(expected), 1.5e-4) << c.name << ", source " << source << ", pixel " << k;
      }
    }
    EXPECT_GT(reached, pixels.size()) << c.name;
    // A place that is no pixel is found ray by ray.
    const std::vector<Point> between{{Metres(1.1e-3), Metres(0.0), Metres(9.3e-3)}};
    double one = 0.0, other = 0.0;
    leg->departures()->cosines(1, between, std::span(&one, 1));
    table->departures()->cosines(1, between, std::span(&other, 1));
    EXPECT_EQ(one, other) << c.name;
  }
}

TEST(RayDepartures, AreTheRaysBesideCornersAndShadowsToo) {
  // Through a valley of two slopes first arrivals change from one side to the other, and a source that is moved may lose its ray.
  const std::vector<Vector2> corners{{-40e-3, 0.0}, {-6e-3, 0.0}, {0.0, 3e-3}, {6e-3, 0.0}, {40e-3, 0.0}};
  std::vector<Segment> lines;
  for (std::size_t k = 0; k + 1 < corners.size(); ++k) lines.push_back(line_segment(corners[k], corners[k + 1]));
  const auto valley = std::make_shared<const Surface>("valley", lines);
  const RayPath path{{MetresPerSecond(couplant), MetresPerSecond(5900.0)}, {{valley, false, false}}};
  Probe probe;
  for (const double x : {-8e-3, 0.3e-3, 4e-3}) {
    Element element;
    element.centre = {Metres(x), Metres(0.0), Metres(-20e-3)};
    probe.elements.push_back(element);
  }
  const Grid grid{{Metres(-12e-3), Metres(12e-3), 121}, {Metres(0.5e-3), Metres(15e-3), 59}, {}};
  const std::vector<Point> pixels = grid.points();
  const auto leg = make_ray_leg(probe, path, {valley, nullptr});
  const auto table = leg->tabulated(grid, 2, Seconds(0.0), true);
  std::vector<double> cosines(pixels.size()), times(pixels.size());
  std::size_t reached = 0;
  std::size_t on_edge = 0;
  for (std::size_t source = 0; source < probe.elements.size(); ++source) {
    const Point& from = probe.elements[source].centre;
    RaySolver solver(path, from);
    table->departures()->cosines(source, pixels, cosines);
    table->travel_times(source, pixels, times);
    for (std::size_t k = 0; k < pixels.size(); ++k) {
      if (std::isnan(times[k])) {
        ASSERT_TRUE(std::isnan(cosines[k])) << source << ", " << k;
        continue;
      }
      ++reached;
      ASSERT_FALSE(std::abs(cosines[k]) > 1.0) << source << ", " << k;
      std::vector<Vector2> places;
      // On the very edge of a shadow the table may have a ray that the solver does not. Those of pixels on the valley end below
      // it.
      if (std::isnan(solver.time_to(table->rays(grid)->pixels.place(grid, k), &places))) {
        ++on_edge;
        continue;
      }
      const Vector2 way = places.front() - Vector2{from.x.value, from.z.value};
      // Rays that differ by less than that count as one.
      ASSERT_NEAR(cosines[k], way.z / length(way), 0.011) << source << ", " << k;
    }
  }
  EXPECT_GT(reached, pixels.size());
  EXPECT_LT(on_edge, 10U);
}

TEST(RayDepartures, AreStraightWhereNothingBendsAlsoAcrossThePlane) {
  // Part and couplant of one velocity: rays are straight lines, in any direction.
  const auto plane = surface("plane", {});
  const RayPath path{{MetresPerSecond(2000.0), MetresPerSecond(2000.0)}, {{plane, false, false}}};
  const Probe probe = probe_at(-5e-3, 0.3);
  const Grid grid{{Metres(-9e-3), Metres(7e-3), 5}, {Metres(2e-3), Metres(20e-3), 4}, {Metres(-6e-3), Metres(8e-3), 3}};
  const std::vector<Point> pixels = grid.points();
  const auto table = make_ray_leg(probe, path, {plane, nullptr})->tabulated(grid, 1, Seconds(0.0), true);
  std::vector<double> cosines(pixels.size());
  for (std::size_t source = 0; source < probe.elements.size(); ++source) {
    const Element& element = probe.elements[source];
    table->departures()->cosines(source, pixels, cosines);
    for (std::size_t k = 0; k < pixels.size(); ++k) {
      const double dx = (pixels[k].x - element.centre.x).value;
      const double dy = (pixels[k].y - element.centre.y).value;
      const double dz = (pixels[k].z - element.centre.z).value;
      const double expected = (dx * element.normal.x + dz * element.normal.z) / std::sqrt(dx * dx + dy * dy + dz * dz);
      EXPECT_NEAR(cosines[k], expected, 1e-4) << source << ", " << k;
    }
  }
}

TEST(RayDepartures, OffATiltedBackwallInSpaceAreThoseToItsMirrorImages) {
  // Waves of one velocity go straight to the pixel's image behind the plane.
  const double along = std::tan(-3.0 * std::numbers::pi / 180.0), across = std::tan(5.0 * std::numbers::pi / 180.0);
  const MadeSurface back = make_any_surface({"[backwall]", "plane", {{"z", 24e-3}, {"angle", -3.0}, {"angle_across", 5.0}}, {}});
  ASSERT_NE(back.spatial, nullptr);
  const RayPath path{{MetresPerSecond(longitudinal), MetresPerSecond(longitudinal)}, {{nullptr, true, false, back.spatial}}};
  const Probe probe = probe_at(0.0, 0.1);
  const Grid grid{{Metres(-9e-3), Metres(7e-3), 9}, {Metres(2e-3), Metres(18e-3), 8}, {Metres(-6e-3), Metres(8e-3), 7}};
  const std::vector<Point> pixels = grid.points();
  const auto leg = make_ray_leg(probe, path, {surface("plane", {}), nullptr, nullptr, back.spatial});
  const auto table = leg->tabulated(grid, 1, Seconds(0.0), true);
  for (const auto* told : {table->departures(), leg->departures()}) {
    std::vector<double> cosines(pixels.size());
    for (std::size_t source = 0; source < probe.elements.size(); ++source) {
      const Element& element = probe.elements[source];
      told->cosines(source, pixels, cosines);
      for (std::size_t k = 0; k < pixels.size(); ++k) {
        const double x = pixels[k].x.value, y = pixels[k].y.value, z = pixels[k].z.value;
        const double below = (z - 24e-3 - along * x - across * y) / (1.0 + along * along + across * across);
        const double dx = x + 2.0 * below * along - element.centre.x.value;
        const double dy = y + 2.0 * below * across - element.centre.y.value;
        const double dz = z - 2.0 * below - element.centre.z.value;
        const double expected = (dx * element.normal.x + dz * element.normal.z) / std::sqrt(dx * dx + dy * dy + dz * dz);
        // Single precision, and places to 1e-9 m.
        EXPECT_NEAR(cosines[k], expected, 1e-7) << source << ", " << k;
      }
    }
  }
}

TEST(RayDepartures, ElementsCloseToTheSurfaceStayOnTheirSide) {
  // 20 um of couplant: sources are moved by a quarter of it.
  const auto plane = surface("plane", {});
  const RayPath path{{MetresPerSecond(couplant), MetresPerSecond(longitudinal)}, {{plane, false, false}}};
  const Probe probe = probe_at(-20e-6, 0.0);
  const std::vector<Point> pixels{{Metres(0.0), Metres(0.0), Metres(10e-3)}, {Metres(8e-3), Metres(0.0), Metres(10e-3)}};
  std::vector<double> cosines(2);
  make_ray_leg(probe, path, {plane, nullptr})->departures()->cosines(1, pixels, cosines);
  EXPECT_NEAR(cosines[0], 1.0, 1e-4);
  // Snell: below the element's 20 um the way is straight to the pixel, so sin = c_1 / c_2 times its sine.
  const double sine = couplant / longitudinal * 8.0 / std::hypot(8.0, 10.0);
  EXPECT_NEAR(cosines[1], std::sqrt(1.0 - sine * sine), 1e-3);
}

}  // namespace
}  // namespace echoform::departures
