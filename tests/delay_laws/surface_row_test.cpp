// Times to pixels that lie on a surface of the part: the limit of those just inside, by formulas of planes, and for every kind of
// surface by what a micrometre inside takes.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/grid.hpp"
#include "base/vector3.hpp"
#include "delay_laws/delay_law.hpp"
#include "delay_laws/ray_leg.hpp"
#include "rays/surface_kind.hpp"

namespace echoform::surface_row {
namespace {

constexpr double c_w = 1480.0;
constexpr double c_l = 6320.0;
constexpr double c_t = 3130.0;

std::shared_ptr<const Surface> surface(const std::string& kind, const std::map<std::string, double>& numbers,
                                       const std::map<std::string, std::string>& words = {}) {
  SurfaceDescription description{.where = "[surface]", .kind = kind, .numbers = {}, .words = {}};
  for (const auto& [name, value] : numbers) description.numbers[name] = value;
  for (const auto& [name, value] : words) description.words[name] = value;
  return make_surface(description);
}

Probe probe_at(double z) {
  Probe probe = make_linear_probe(6, Metres(4e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  for (Element& element : probe.elements) element.centre.z = Metres(z);
  return probe;
}

double time_to(const Leg& leg, std::size_t source, const Point& p) {
  double time = 0.0;
  leg.travel_times(source, {&p, 1}, {&time, 1});
  return time;
}

/// From (x, -height) to a place of the plane z = 0, `aside` of it, that is approached from below: straight through the couplant,
/// or beyond the critical angle by the wave that runs along below the surface.
double to_plane(double height, double aside, double velocity) {
  const double sine = c_w / velocity;
  const double critical = sine / std::sqrt(1.0 - sine * sine);
  if (aside <= critical * height) return std::hypot(aside, height) / c_w;
  return height * std::sqrt(1.0 - sine * sine) / c_w + aside / velocity;
}

/// 20 nm off the surface at the velocity of the couplant.
constexpr double near_limit = 1.4e-11;

TEST(SurfaceRow, OnAPlaneIsTheLimitFromBelow) {
  const double height = 5e-3;
  Acquisition acquisition;
  acquisition.probe = probe_at(-height);
  Scene scene;
  scene.couplant = MetresPerSecond(c_w);
  for (const auto& front : {std::shared_ptr<const Surface>(), surface("plane", {})}) {
    scene.surface = front;
    for (const auto& [view, velocity] : {std::pair{"LL", c_l}, {"TT", c_t}}) {
      const auto leg =
          make_delay_law("immersion", {acquisition, {MetresPerSecond(c_l), MetresPerSecond(c_t)}, view, scene}).transmit;
      const Grid grid{{Metres(-12e-3), Metres(12e-3), 25}, {Metres(0.0), Metres(12e-3), 25}, {}};
      const auto exact = leg->tabulated(grid, 1);
      const auto interpolated = leg->tabulated(grid, 1, Seconds(1e-10));
      for (std::size_t source = 0; source < 6; ++source) {
        const double x = acquisition.probe.elements[source].centre.x.value;
        for (std::size_t k = 0; k < grid.x.count; ++k) {
          const Point p = grid.at(k);
          ASSERT_EQ(p.z.value, 0.0);
          const double expected = to_plane(height, std::abs(p.x.value - x), velocity);
          EXPECT_NEAR(time_to(*leg, source, p), expected, near_limit) << view << ", " << p.x.value - x;
          EXPECT_NEAR(time_to(*exact, source, p), expected, near_limit) << view << ", " << p.x.value - x;
          EXPECT_NEAR(time_to(*interpolated, source, p), expected, 1e-10 + near_limit) << view << ", " << p.x.value - x;
        }
        // A row above is in the couplant.
        EXPECT_TRUE(std::isnan(time_to(*leg, source, {Metres(x), Metres(0.0), Metres(-1e-6)})));
      }
    }
  }
}

TEST(SurfaceRow, OnAPlaneInVolumesToo) {
  const double height = 5e-3;
  Acquisition acquisition;
  acquisition.probe = probe_at(-height);
  Scene scene;
  scene.couplant = MetresPerSecond(c_w);
  const auto leg = make_delay_law("immersion", {acquisition, {MetresPerSecond(c_l), {}}, "LL", scene}).transmit;
  const Grid grid{{Metres(-6e-3), Metres(6e-3), 7}, {Metres(0.0), Metres(6e-3), 3}, {Metres(-5e-3), Metres(5e-3), 5}};
  const auto table = leg->tabulated(grid, 1);
  for (std::size_t source = 0; source < 6; ++source) {
    const double x = acquisition.probe.elements[source].centre.x.value;
    for (std::size_t k = 0; k < grid.x.count * grid.y.count; ++k) {
      const Point p = grid.at(k);
      EXPECT_NEAR(time_to(*table, source, p), to_plane(height, std::hypot(p.x.value - x, p.y.value), c_l), near_limit);
    }
  }
}

TEST(SurfaceRow, OnTheBackwallOfASkipIsTheLimitFromAbove) {
  const double depth = 15e-3;
  Acquisition acquisition;
  acquisition.probe = probe_at(0.0);
  Scene scene;
  scene.backwall = surface("plane", {{"z", depth}});
  const Material material{MetresPerSecond(c_l), MetresPerSecond(c_t)};
  const Grid grid{{Metres(-12e-3), Metres(12e-3), 13}, {Metres(3e-3), Metres(depth), 7}, {}};
  // One mode goes straight to the wall; from L to T likewise, where the second leg has no length.
  for (const auto& [view, velocity] : {std::pair{"TT-T", c_t}, {"LL-L", c_l}, {"LT-L", c_l}}) {
    const auto leg = make_delay_law("contact", {acquisition, material, view, scene}).transmit;
    const auto table = leg->tabulated(grid, 1);
    for (std::size_t source = 0; source < 6; ++source) {
      const double x = acquisition.probe.elements[source].centre.x.value;
      for (std::size_t k = 0; k < grid.x.count; ++k) {
        const Point p = grid.at(grid.pixels() - grid.x.count + k);
        ASSERT_EQ(p.z.value, depth);
        const double expected = std::hypot(p.x.value - x, depth) / velocity;
        EXPECT_NEAR(time_to(*leg, source, p), expected, near_limit) << view << ", " << p.x.value - x;
        EXPECT_NEAR(time_to(*table, source, p), expected, near_limit) << view << ", " << p.x.value - x;
      }
      EXPECT_TRUE(std::isnan(time_to(*leg, source, {Metres(x), Metres(0.0), Metres(depth + 1e-6)})));
    }
  }
}

// ---- surfaces of every kind

std::string written(const std::string& name, const std::string& text) {
  const std::string file = testing::TempDir() + "echoform_surface_row_" + name + "_" + std::to_string(getpid());
  std::ofstream(file) << text;
  return file;
}

/// A tent whose ridge, 1 mm deep, runs along y, with a tip below: in the text form of STL, mm.
std::string tent() {
  const std::array<Vector3, 5> corners{{{0, -60, 1}, {0, 60, 1}, {-60, 0, 8}, {60, 0, 8}, {0, 0, 80}}};
  const std::vector<std::array<std::size_t, 3>> faces{{0, 1, 2}, {0, 1, 3}, {0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4}};
  std::string text = "solid tent\n";
  for (std::array<std::size_t, 3> face : faces) {
    const Vector3 out = cross(corners[face[1]] - corners[face[0]], corners[face[2]] - corners[face[0]]);
    if (dot(out, corners[face[0]] - Vector3{0, 0, 20}) < 0.0) std::swap(face[1], face[2]);
    text += "facet normal 0 0 0\nouter loop\n";
    for (const std::size_t k : face) text += fmt::format("vertex {} {} {}\n", corners[k].x, corners[k].y, corners[k].z);
    text += "endloop\nendfacet\n";
  }
  return text + "endsolid tent\n";
}

struct Part {
  std::string name;
  MadeSurface surface;

  [[nodiscard]] double depth(Vector3 at) const {
    return surface.curve != nullptr ? surface.curve->signed_distance({at.x, at.z}) : surface.spatial->signed_distance(at);
  }
  /// The surface's place below (x, y), by halving, from where it is above that and below the next one.
  [[nodiscard]] Vector3 crown(double x, double y) const {
    double above = -10e-3;
    double below = above;
    while (below < 60e-3 && !(depth({x, y, below}) > 0.0)) below += 0.5e-3;
    above = below - 0.5e-3;
    for (int step = 0; step < 60; ++step) {
      const double middle = 0.5 * (above + below);
      (depth({x, y, middle}) > 0.0 ? below : above) = middle;
    }
    return {x, y, 0.5 * (above + below)};
  }
  [[nodiscard]] Vector3 inwards(Vector3 at) const {
    constexpr double step = 1e-5;
    const auto slope = [&](Vector3 by) { return depth(at + by) - depth(at - by); };
    return unit_of({slope({step, 0, 0}), slope({0, step, 0}), slope({0, 0, step})});
  }
};

std::vector<Part> parts() {
  const auto profile = written("profile.csv", "-0.03,0.0025\n-0.004,0.0\n0.004,0.0\n0.03,0.002\n");
  const auto barrel = written("barrel.csv", "-0.02,0.010\n0.02,0.010,0.05\n");
  const auto mesh = written("tent.stl", tent());
  std::vector<Part> all;
  const auto add = [&](const std::string& name, SurfaceDescription description) {
    description.where = "[surface]";
    all.push_back({name, make_any_surface(std::move(description))});
  };
  add("plane", {.where = {}, .kind = "plane", .numbers = {}, .words = {}});
  add("tilted plane", {.where = {}, .kind = "plane", .numbers = {{"angle", 8.0}}, .words = {}});
  add("plane tilted across", {.where = {}, .kind = "plane", .numbers = {{"angle", 5.0}, {"angle_across", -9.0}}, .words = {}});
  add("rod", {.where = {}, .kind = "cylinder", .numbers = {{"radius", 30e-3}}, .words = {}});
  add("bore", {.where = {}, .kind = "cylinder", .numbers = {{"radius", 30e-3}, {"z", 20e-3}}, .words = {{"side", "inside"}}});
  add("turned rod", {.where = {}, .kind = "cylinder", .numbers = {{"radius", 30e-3}, {"turn", 35.0}, {"dip", 6.0}}, .words = {}});
  add("lines", {.where = {}, .kind = "profile", .numbers = {}, .words = {{"file", profile}}});
  add("spline", {.where = {}, .kind = "profile", .numbers = {}, .words = {{"file", profile}, {"interpolation", "spline"}}});
  add("ball", {.where = {}, .kind = "sphere", .numbers = {{"radius", 40e-3}}, .words = {}});
  add("barrel", {.where = {},
                 .kind = "revolved",
                 .numbers = {{"z", 12e-3}, {"turn", 20.0}, {"dip", 3.0}},
                 .words = {{"file", barrel}, {"side", "outside"}}});
  add("mesh", {.where = {}, .kind = "stl", .numbers = {{"scale", 1e-3}}, .words = {{"file", mesh}}});
  return all;
}

/// What of a leg's times is looked at on the surface: exact ones, and those of tables of a grid that meets it there. `into` is 1
/// below a front surface and -1 above a backwall.
void expect_limit(const Leg& leg, const Part& part, double x, double y, double into = 1.0) {
  const std::string& what = part.name;
  const Vector3 at = part.crown(x, y);
  const Vector3 in = into * part.inwards(at);
  const Grid pixel{{Metres(at.x), Metres(at.x), 1}, {Metres(at.z), Metres(at.z), 1}, {Metres(at.y), Metres(at.y), 1}};
  const auto table = leg.tabulated(pixel, 1);
  std::size_t reached = 0;
  for (std::size_t source = 0; source < leg.sources(); ++source) {
    // Extrapolated from two depths: times change evenly there, but for what bends over 2 um.
    const double below = 2.0 * time_to(leg, source, point_of(at + 1e-6 * in)) - time_to(leg, source, point_of(at + 2e-6 * in));
    const double exact = time_to(leg, source, point_of(at));
    const double tabled = time_to(*table, source, point_of(at));
    // Where no ray leads to below, as in shadow, none leads to the surface.
    if (std::isnan(below)) continue;
    ++reached;
    EXPECT_NEAR(exact, below, 2e-11) << what << " at " << x << ", " << y << " from " << source;
    EXPECT_NEAR(tabled, below, 2e-11) << what << " at " << x << ", " << y << " from " << source << ", table";
  }
  EXPECT_GT(reached, 0U) << what << " at " << x << ", " << y;
}

TEST(SurfaceRow, OnSurfacesOfEveryKindIsTheLimitFromTheirPart) {
  for (const Part& part : parts()) {
    const PartBounds bounds{part.surface.curve, nullptr, part.surface.spatial, nullptr};
    const RayPath path{{MetresPerSecond(c_w), MetresPerSecond(c_l)}, {{part.surface.curve, false, false, part.surface.spatial}}};
    const auto leg = make_ray_leg(probe_at(-12e-3), path, bounds);
    for (const double x : {-3.1e-3, 0.7e-3, 2.3e-3}) {
      for (const double y : {0.0, 2.5e-3}) expect_limit(*leg, part, x, y);
    }
  }
}

TEST(SurfaceRow, OnBackwallsOfEveryKindIsTheLimitFromTheirPart) {
  for (const Part& part : parts()) {
    const PartBounds bounds{nullptr, part.surface.curve, nullptr, part.surface.spatial};
    // Not from T to L, whose rays beyond the critical angle a bent wall keeps off itself.
    for (const double before : {c_l, c_t}) {
      const RayPath path{{MetresPerSecond(before), MetresPerSecond(c_t)},
                         {{part.surface.curve, true, false, part.surface.spatial}}};
      const auto leg = make_ray_leg(probe_at(-12e-3), path, bounds);
      for (const double x : {-3.1e-3, 0.7e-3, 2.3e-3}) {
        for (const double y : {0.0, 2.5e-3}) expect_limit(*leg, part, x, y, -1.0);
      }
    }
  }
}

TEST(SurfaceRow, AnglesOfDepartureAreTheLimitToo) {
  for (const Part& part : parts()) {
    const PartBounds bounds{part.surface.curve, nullptr, part.surface.spatial, nullptr};
    const RayPath path{{MetresPerSecond(c_w), MetresPerSecond(c_l)}, {{part.surface.curve, false, false, part.surface.spatial}}};
    const auto leg = make_ray_leg(probe_at(-12e-3), path, bounds);
    const Vector3 at = part.crown(1.9e-3, 0.0);
    const std::array<Point, 2> points{point_of(at), point_of(at + 1e-6 * part.inwards(at))};
    for (std::size_t source = 0; source < 6; ++source) {
      std::array<double, 2> cosines{};
      leg->departures()->cosines(source, points, cosines);
      if (std::isnan(cosines[1])) continue;
      // What departures are good to.
      EXPECT_NEAR(cosines[0], cosines[1], 1e-3) << part.name << " from " << source;
    }
  }
}

}  // namespace
}  // namespace echoform::surface_row
