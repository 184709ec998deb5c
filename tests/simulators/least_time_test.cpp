// The simulator's travel times: closed forms, one surface described in several ways, and the imaging side's solver, which shares
// nothing with them.
#include "simulators/least_time.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numbers>
#include <random>

#include "delay_laws/ray_leg.hpp"
#include "rays/surface_kind.hpp"
#include "tests/formats/scratch.hpp"

namespace echoform::simulated {
namespace {

constexpr double water = 1480.0;
constexpr double longitudinal = 6320.0;
constexpr double shear = 3130.0;
const Material aluminium{MetresPerSecond(longitudinal), MetresPerSecond(shear)};
/// Golden sections hold places to 1e-9 m or better where times are stationary; parabolas between samples of the backwall, 0.2 mm
/// apart, are good to some 1e-13 s.
constexpr double exact = 1e-12;

SimulatedScene scene_of(CurveShape surface, CurveShape backwall = {}) {
  SimulatedScene scene;
  scene.couplant = MetresPerSecond(water);
  scene.surface = std::move(surface);
  scene.backwall = std::move(backwall);
  scene.modes = "LT";
  return scene;
}

CurveShape plane(double z, double angle = 0.0) {
  return {.kind = CurveKind::plane, .z = z, .angle = angle, .knots = {}};
}
CurveShape cylinder(double radius, double x, double z, bool inside = false) {
  return {.kind = CurveKind::cylinder, .x = x, .z = z, .radius = radius, .inside = inside, .knots = {}};
}

TEST(LeastTimes, NormalIncidenceIsDistanceByVelocity) {
  const LeastTimes times(scene_of(plane(0.0), plane(25e-3)), aluminium, {{3e-3, -20e-3}}, {{3e-3, 10e-3}});
  const Ray l = times.direct(0, 'L', {3e-3, 10e-3});
  EXPECT_NEAR(l.time, 20e-3 / water + 10e-3 / longitudinal, exact);
  EXPECT_NEAR(l.reach, 20e-3 + 10e-3 * longitudinal / water, 1e-9);
  EXPECT_NEAR(times.direct(0, 'T', {3e-3, 10e-3}).time, 20e-3 / water + 10e-3 / shear, exact);
  EXPECT_NEAR(times.skip(0, 'L', 'T', {3e-3, 10e-3}).time, 20e-3 / water + 25e-3 / longitudinal + 15e-3 / shear, exact);
  const auto front = times.front_echo(0, 0);
  ASSERT_TRUE(front);
  EXPECT_NEAR(front->transmit.time + front->receive.time, 40e-3 / water, exact);
  EXPECT_NEAR(front->share, (longitudinal * 2700.0 - water * 1000.0) / (longitudinal * 2700.0 + water * 1000.0), 1e-9);
  const auto back = times.backwall_echo(0, 0, 'L', 'T');
  ASSERT_TRUE(back);
  EXPECT_NEAR(back->transmit.time + back->receive.time, 40e-3 / water + 25e-3 / longitudinal + 25e-3 / shear, exact);
  EXPECT_NEAR(back->share, 0.0, 1e-6) << "no conversion at normal incidence";
}

TEST(LeastTimes, ObliqueRaysKeepSnellsLaw) {
  // Chosen the other way round: a ray at 10 degrees in water, 8 in a tilted frame, gives the place that it must reach.
  for (const double tilt : {0.0, 7.0, -12.0}) {
    for (const double degrees : {1.0, 5.0, 10.0, 13.0}) {
      const double slope = tilt * std::numbers::pi / 180.0;
      const double incidence = degrees * std::numbers::pi / 180.0;
      const double refracted = std::asin(std::sin(incidence) * longitudinal / water);
      const Place along{std::cos(slope), std::sin(slope)};
      const Place into{-std::sin(slope), std::cos(slope)};
      const Place element{1e-3, -22e-3};
      const double height = -(element.x * into.x + (element.z - 2e-3) * into.z);
      const double depth = 9e-3;
      const double way = height * std::tan(incidence) + depth * std::tan(refracted);
      const Place to{element.x + (height + depth) * into.x + way * along.x,
                     element.z + (height + depth) * into.z + way * along.z};
      const LeastTimes times(scene_of(plane(2e-3, tilt)), aluminium, {element}, {to});
      const Ray ray = times.direct(0, 'L', to);
      EXPECT_NEAR(ray.time, height / std::cos(incidence) / water + depth / std::cos(refracted) / longitudinal, exact);
      const FluidSolid waves{water, 1000.0, longitudinal, shear, 2700.0};
      EXPECT_NEAR(ray.share, waves.transmission('L', std::sin(incidence) / water), 1e-5);
    }
  }
}

TEST(LeastTimes, ContactSkipsAreThoseOfTheImageSource) {
  SimulatedScene scene;
  scene.backwall = plane(25e-3);
  scene.modes = "LT";
  const LeastTimes times(scene, aluminium, {{-7e-3, 0.0}, {4e-3, 0.0}}, {{5e-3, 18e-3}});
  const Place to{5e-3, 18e-3};
  EXPECT_NEAR(times.direct(0, 'T', to).time, std::hypot(12e-3, 18e-3) / shear, 1e-18);
  EXPECT_NEAR(times.skip(0, 'T', 'T', to).time, std::hypot(12e-3, 32e-3) / shear, exact);
  EXPECT_NEAR(times.skip(1, 'L', 'L', to).time, std::hypot(1e-3, 32e-3) / longitudinal, exact);
  const auto wall = times.backwall_echo(0, 1, 'T', 'T');
  ASSERT_TRUE(wall);
  EXPECT_NEAR(wall->transmit.time + wall->receive.time, std::hypot(11e-3, 50e-3) / shear, exact);
  EXPECT_FALSE(times.front_echo(0, 1)) << "no couplant";
  EXPECT_EQ(times.direct(0, 'L', to).share, 1.0);
}

TEST(LeastTimes, DoubleSkipsInAPlateAreThoseOfTheImageSource) {
  // Unfolded: down to the wall, up to the front, down to the place, which lies 2 * 25 mm further off.
  SimulatedScene scene;
  scene.backwall = plane(25e-3);
  scene.modes = "LT";
  scene.skips = 2;
  const std::vector<Place> elements{{-17e-3, 0.0}, {-7e-3, 0.0}, {4e-3, 0.0}, {5e-3, 0.0}};
  const Place to{5e-3, 18e-3};
  const LeastTimes times(scene, aluminium, elements, {to});
  for (std::size_t element = 0; element < elements.size(); ++element) {
    const double aside = to.x - elements[element].x;
    for (const auto& [modes, velocity] : {std::pair{"LLL", longitudinal}, {"TTT", shear}}) {
      const Ray ray = times.side(element, modes, to);
      EXPECT_NEAR(ray.time, std::hypot(aside, 68e-3) / velocity, exact) << modes;
      EXPECT_NEAR(ray.reach, std::hypot(aside, 68e-3), 1e-9) << modes;
      EXPECT_NEAR(ray.first.x, elements[element].x + aside * 25.0 / 68.0, 1e-6) << modes;
      EXPECT_NEAR(ray.last.x, elements[element].x + aside * 50.0 / 68.0, 1e-6) << modes;
      const SolidFree wall{longitudinal, shear};
      const double along = std::abs(aside) / std::hypot(aside, 68e-3) / velocity;
      // Places are held to a micrometre, angles to some 1e-4; the share's slope over the angle is of order 1.
      EXPECT_NEAR(ray.share, std::pow(wall.reflection(modes[0], modes[0], along), 2), 1e-4) << modes;
    }
    // With conversion a layer a leg by Snell's law: the slowness p along the plate that gives the way aside, by bisection.
    for (const std::string modes : {"LLT", "LTL", "TLL", "TTL", "TLT", "LTT"}) {
      const double thick[3] = {25e-3, 25e-3, 18e-3};
      double low = 0.0;
      double high = 1.0 / longitudinal;
      double time = 0.0;
      for (int step = 0; step < 100; ++step) {
        const double p = 0.5 * (low + high);
        double way = 0.0;
        time = 0.0;
        for (int leg = 0; leg < 3; ++leg) {
          const double velocity = modes[leg] == 'L' ? longitudinal : shear;
          const double sine = p * velocity;
          way += thick[leg] * sine / std::sqrt(1.0 - sine * sine);
          time += thick[leg] / std::sqrt(1.0 - sine * sine) / velocity;
        }
        (way < std::abs(aside) ? low : high) = p;
      }
      EXPECT_NEAR(times.side(element, modes, to).time, time, exact) << modes;
    }
  }
}

TEST(LeastTimes, DoubleSkipsThroughWaterLeakIntoIt) {
  SimulatedScene scene = scene_of(plane(0.0), plane(25e-3));
  scene.skips = 2;
  const LeastTimes times(scene, aluminium, {{3e-3, -20e-3}}, {{3e-3, 10e-3}});
  const FluidSolid front{water, 1000.0, longitudinal, shear, 2700.0};
  const Ray ray = times.side(0, "LLL", {3e-3, 10e-3});
  EXPECT_NEAR(ray.time, 20e-3 / water + 60e-3 / longitudinal, exact);
  EXPECT_NEAR(ray.reach, 20e-3 + 60e-3 * longitudinal / water, 1e-9);
  EXPECT_NEAR(ray.share, front.transmission('L', 0.0) * front.reflection_from_below('L', 'L', 0.0), 1e-9);
  EXPECT_NEAR(times.side(0, "LTT", {3e-3, 10e-3}).time, 20e-3 / water + 25e-3 / longitudinal + 35e-3 / shear, exact);
}

TEST(LeastTimes, OnePlaneInThreeDescriptionsHasTheSameTimes) {
  const double slope = std::tan(6.0 * std::numbers::pi / 180.0);
  CurveShape profile{.kind = CurveKind::profile, .x = 1e-3, .z = 3e-3, .knots = {}};
  for (int k = -10; k <= 10; ++k) profile.knots.push_back({k * 7e-3 - 1e-3, k * 7e-3 * slope});
  CurveShape spline = profile;
  spline.smooth = true;
  const std::vector<Place> elements{{-8e-3, -20e-3}, {0.0, -21e-3}, {9e-3, -20.5e-3}};
  const std::vector<Place> places{{-10e-3, 15e-3}, {2e-3, 9e-3}, {12e-3, 24e-3}};
  const auto with_skips = [](const CurveShape& front) {
    SimulatedScene scene = scene_of(front, plane(40e-3, -3.0));
    scene.skips = 2;
    return scene;
  };
  const LeastTimes as_plane(with_skips(plane(3e-3, 6.0)), aluminium, elements, places);
  const LeastTimes as_lines(with_skips(profile), aluminium, elements, places);
  const LeastTimes as_spline(with_skips(spline), aluminium, elements, places);
  for (std::size_t element = 0; element < elements.size(); ++element) {
    for (const Place& to : places) {
      for (const char* modes : {"L", "T", "LL", "LT", "TL", "TT", "LLL", "LTT", "TLT", "TTL"}) {
        const double time = as_plane.side(element, modes, to).time;
        EXPECT_NEAR(as_lines.side(element, modes, to).time, time, exact) << modes;
        EXPECT_NEAR(as_spline.side(element, modes, to).time, time, exact) << modes;
      }
    }
  }
  // A cylinder of 100 m falls off by x^2 / 200 m: 0.5 um at 10 mm, 0.3 ns in water.
  const LeastTimes flat(scene_of(plane(0.0)), aluminium, elements, places);
  for (const bool inside : {false, true}) {
    const LeastTimes huge(scene_of(cylinder(100.0, 0.0, 0.0, inside)), aluminium, elements, places);
    for (std::size_t element = 0; element < elements.size(); ++element) {
      for (const Place& to : places) EXPECT_NEAR(huge.direct(element, 'L', to).time, flat.direct(element, 'L', to).time, 1e-9);
    }
  }
}

// The imaging side.

std::shared_ptr<const Surface> solver_surface(std::string kind, std::map<std::string, double, std::less<>> numbers,
                                              std::map<std::string, std::string, std::less<>> words = {}) {
  return make_surface({"test: [surface]", std::move(kind), std::move(numbers), std::move(words)});
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double operator()(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }

 private:
  std::mt19937_64 engine_;
};

struct Geometry {
  CurveShape shape;
  std::shared_ptr<const Surface> surface;
};

Geometry random_plane(Random& random, double z, double tilt) {
  const double angle = random(-tilt, tilt);
  return {plane(z, angle), solver_surface("plane", {{"z", z}, {"angle", angle}})};
}

Geometry random_cylinder(Random& random, double z, bool inside) {
  const double radius = random(25e-3, 80e-3);
  const double x = random(-5e-3, 5e-3);
  return {cylinder(radius, x, z, inside),
          solver_surface("cylinder", {{"radius", radius}, {"x", x}, {"z", z}}, {{"side", inside ? "inside" : "outside"}})};
}

/// Gentle waves, sampled; as spline, lines or arcs.
Geometry random_profile(Random& random, double z, const std::string& between) {
  const test::Scratch scratch;
  const std::string path = (scratch / "profile.csv").string();
  std::ofstream file(path);
  file.precision(17);
  const double phase = random(0.0, 6.0);
  const double height = random(0.2e-3, 0.8e-3);
  const double radius = random(30e-3, 60e-3);
  file << "x,z" << (between == "arcs" ? ",radius\n" : "\n");
  for (int k = 0; k <= 60; ++k) {
    const double x = -60e-3 + 2e-3 * k;
    file << x << ',' << z + height * std::sin(x / 9e-3 + phase);
    if (between == "arcs") file << ',' << (k % 3 == 0 ? 0.0 : k % 3 == 1 ? radius : -radius);
    file << '\n';
  }
  file.close();
  CurveShape shape{.kind = CurveKind::profile, .smooth = between == "spline", .knots = read_profile_knots(path)};
  return {shape, solver_surface("profile", {}, {{"file", path}, {"interpolation", between == "spline" ? "spline" : "lines"}})};
}

struct Agreement {
  int both = 0;
  int earlier = 0;  ///< by the simulator, more than a nanosecond
  int solver_alone = 0;
  int simulator_alone = 0;
  double earliest = 0.0;  ///< simulator's times less solver's
  double latest = 0.0;
};

using Sides = std::vector<const char*>;

/// Sides of 8 elements to random places between the surfaces by both.
void compare(const Geometry& front, const Geometry& back, Random& random, const Sides& sides, Agreement& agreement) {
  std::vector<Place> elements;
  for (int k = 0; k < 8; ++k) elements.push_back({random(-12e-3, 12e-3), random(-24e-3, -16e-3)});
  std::vector<Place> places;
  for (int k = 0; k < 6; ++k) places.push_back({random(-9e-3, 9e-3), random(9e-3, 19e-3)});
  SimulatedScene simulated = scene_of(front.shape, back.shape);
  simulated.skips = std::strlen(sides.back()) - 1;
  const LeastTimes times(simulated, aluminium, elements, places);
  const Scene scene{MetresPerSecond(water), front.surface, back.surface};
  for (const char* modes : sides) {
    RayPath path = path_in_part(modes, aluminium, scene);
    path.velocities.insert(path.velocities.begin(), scene.couplant);
    path.interfaces.insert(path.interfaces.begin(), {front.surface, false, false});
    for (std::size_t element = 0; element < elements.size(); ++element) {
      RaySolver solver(path, {Metres(elements[element].x), Metres(0.0), Metres(elements[element].z)});
      for (const Place& to : places) {
        const double theirs = solver.time_to({Metres(to.x), Metres(0.0), Metres(to.z)});
        const Ray ours = times.side(element, modes, to);
        if (std::isnan(theirs) || !ours.found()) {
          agreement.solver_alone += std::isnan(theirs) ? 0 : 1;
          agreement.simulator_alone += ours.found() ? 1 : 0;
          continue;
        }
        ++agreement.both;
        agreement.latest = std::max(agreement.latest, ours.time - theirs);
        agreement.earliest = std::min(agreement.earliest, ours.time - theirs);
        if (ours.time < theirs - 1e-9) ++agreement.earlier;
      }
    }
  }
}

using MakeGeometry = std::function<Geometry(Random&)>;
struct Pairing {
  const char* name;
  MakeGeometry front;
  MakeGeometry back;
  bool cornered;  ///< then the solver has no rays over corners

  friend void PrintTo(const Pairing& pairing, std::ostream* out) { *out << pairing.name; }
};

TEST(LeastTimes, DoubleSkipsInContactAgreeWithTheSolver) {
  // Elements on the part; level and curved fronts from below, level, tilted and bent backwalls.
  Random random(13);
  std::vector<Place> elements;
  for (int k = 0; k < 6; ++k) elements.push_back({random(-12e-3, 12e-3), 0.0});
  std::vector<Place> places;
  for (int k = 0; k < 6; ++k) places.push_back({random(-9e-3, 9e-3), random(3e-3, 17e-3)});
  const Geometry level{{}, solver_surface("plane", {})};
  const Geometry crown{cylinder(90e-3, 1e-3, -1e-3), solver_surface("cylinder", {{"radius", 90e-3}, {"x", 1e-3}, {"z", -1e-3}})};
  const std::vector<std::pair<Geometry, Geometry>> parts{{level, random_plane(random, 25e-3, 0.0)},
                                                         {level, random_plane(random, 25e-3, 9.0)},
                                                         {level, random_cylinder(random, 25e-3, false)},
                                                         {crown, random_plane(random, 25e-3, 5.0)}};
  for (const auto& [front, back] : parts) {
    SimulatedScene scene;
    scene.surface = front.shape;
    scene.backwall = back.shape;
    scene.modes = "LT";
    scene.skips = 2;
    const LeastTimes times(scene, aluminium, elements, places);
    for (const char* modes : {"LLL", "LLT", "LTL", "TLL", "TTL", "TLT", "LTT", "TTT"}) {
      const RayPath path = path_in_part(modes, aluminium, {MetresPerSecond(0.0), front.surface, back.surface});
      for (std::size_t element = 0; element < elements.size(); ++element) {
        RaySolver solver(path, {Metres(elements[element].x), Metres(0.0), Metres(elements[element].z)});
        for (const Place& to : places) {
          EXPECT_NEAR(times.side(element, modes, to).time, solver.time_to({Metres(to.x), Metres(0.0), Metres(to.z)}), exact)
              << modes;
        }
      }
    }
  }
}

class Solvers : public testing::TestWithParam<Pairing> {};

void print(const Agreement& agreement) {
  std::printf("%-14s %5d rays, simulator less solver %.1e to %.1e s; %d by the simulator alone, %d by the solver alone\n",
              Solvers::GetParam().name, agreement.both, agreement.earliest, agreement.latest, agreement.simulator_alone,
              agreement.solver_alone);
}

TEST_P(Solvers, AgreeWithinANanosecond) {
  Random random(11);
  Agreement agreement;
  for (int trial = 0; trial < 6; ++trial) {
    compare(GetParam().front(random), GetParam().back(random), random, {"L", "T", "LL", "LT", "TL", "TT"}, agreement);
  }
  print(agreement);
  if (GetParam().cornered) {
    // Over facets that face each other go two rays side by side. The simulator takes the first one by construction; of the
    // solver no more is asked than that it is no earlier, and mostly within a nanosecond. Tables of times to the backwall have
    // kinks there, between which a parabola errs by some 1e-11 s.
    EXPECT_LT(agreement.latest, 1e-10);
    EXPECT_LT(agreement.earlier, 0.01 * agreement.both);
  } else {
    // A nanosecond is what images ask for; both are far better.
    EXPECT_LT(agreement.latest, exact);
    EXPECT_GT(agreement.earliest, -exact);
  }
  const double all = agreement.both + agreement.solver_alone + agreement.simulator_alone;
  EXPECT_GT(agreement.both, 1000);
  EXPECT_EQ(agreement.solver_alone, 0);
  EXPECT_LE(agreement.simulator_alone, GetParam().cornered ? 0.1 * all : 0.0);
}

class DoubleSkips : public Solvers {};

TEST_P(DoubleSkips, AgreeWithTheSolver) {
  Random random(12);
  Agreement agreement;
  compare(GetParam().front(random), GetParam().back(random), random, {"LLL", "LLT", "LTL", "TLL", "TTL", "TLT", "LTT", "TTT"},
          agreement);
  print(agreement);
  if (GetParam().cornered) {
    // Facets that face each other across a corner have a ray each, nearer to one another than samples are; which of them is
    // found may differ. A nanosecond is what images ask for.
    EXPECT_LT(agreement.latest, 1e-9);
  } else {
    EXPECT_LT(agreement.latest, exact);
    EXPECT_GT(agreement.earliest, -exact);
    EXPECT_EQ(agreement.simulator_alone, 0);
  }
  EXPECT_GT(agreement.both, 300);
  EXPECT_EQ(agreement.solver_alone, 0);
}

const MakeGeometry flat_back = [](Random& random) { return random_plane(random, 27e-3, 8.0); };

const MakeGeometry flat_front = [](Random& random) { return random_plane(random, 0.0, 12.0); };
const MakeGeometry rod = [](Random& random) { return random_cylinder(random, 0.0, false); };
const MakeGeometry spline = [](Random& random) { return random_profile(random, 0.0, "spline"); };
const MakeGeometry lines = [](Random& random) { return random_profile(random, 0.0, "lines"); };
const MakeGeometry bent_back = [](Random& random) { return random_cylinder(random, 25e-3, false); };

INSTANTIATE_TEST_SUITE_P(
    RandomGeometries, Solvers,
    testing::Values(Pairing{"plane", flat_front, flat_back, false}, Pairing{"rod", rod, flat_back, false},
                    Pairing{"bore", [](Random& random) { return random_cylinder(random, 2e-3, true); }, flat_back, false},
                    Pairing{"spline", spline, flat_back, false}, Pairing{"lines", lines, flat_back, true},
                    Pairing{"arcs", [](Random& random) { return random_profile(random, 0.0, "arcs"); }, flat_back, true},
                    Pairing{"bent_backwall", [](Random& random) { return random_plane(random, 0.0, 5.0); }, bent_back, false},
                    Pairing{"wavy_backwall", [](Random& random) { return random_plane(random, 0.0, 5.0); },
                            [](Random& random) { return random_profile(random, 26e-3, "spline"); }, false}),
    [](const auto& pairing) { return std::string(pairing.param.name); });

INSTANTIATE_TEST_SUITE_P(RandomGeometries, DoubleSkips,
                         testing::Values(Pairing{"plane", flat_front, flat_back, false}, Pairing{"rod", rod, flat_back, false},
                                         Pairing{"spline", spline, flat_back, false}, Pairing{"lines", lines, flat_back, true},
                                         Pairing{"bent_backwall", flat_front, bent_back, false}),
                         [](const auto& pairing) { return std::string(pairing.param.name); });

}  // namespace
}  // namespace echoform::simulated
