// The simulator's travel times in space: those in the plane and of whole scenes turned about, image sources, Snell's law; and
// images of points below surfaces that no curve drawn out along y tells.
#include "simulators/space_times.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "delay_laws/ray_leg.hpp"
#include "methods/tfm/scene.hpp"
#include "methods/tfm/simulated_scene.hpp"
#include "rays/ray_field.hpp"
#include "rays/surface_kind.hpp"
#include "settings/reader.hpp"
#include "simulators/least_time.hpp"
#include "tests/simulators/imaged.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::simulated::space_times_test {
namespace {

using ::testing::HasSubstr;

constexpr double degree = std::numbers::pi / 180.0;
const Material aluminium{MetresPerSecond(6320.0), MetresPerSecond(3130.0)};
constexpr double water = 1480.0;
/// Places are narrowed down to 1 / 4096 of the samples' distance, 1 mm or less: a time of stationary slope over legs of 10 mm in
/// water is late by (0.25 um)^2 / (2 * 10 mm * 1480 m/s) = 2e-15 s for each, and ten times that where the narrowest direction is
/// askew.
constexpr double exact = 1e-12;

CurveShape shape_of(CurveKind kind, double z, double radius = 0.0) {
  CurveShape shape;
  shape.kind = kind;
  shape.z = z;
  shape.radius = radius;
  return shape;
}

SimulatedScene scene_of(const CurveShape& surface, const CurveShape& backwall, bool couplant = true) {
  SimulatedScene scene;
  scene.couplant = MetresPerSecond(couplant ? water : 0.0);
  scene.surface = surface;
  scene.backwall = backwall;
  scene.modes = "LT";
  scene.skips = 2;
  return scene;
}

const std::vector<std::string> all_sides{"L", "T", "LL", "LT", "TL", "TT", "LLL", "LTL", "TLT", "TTT"};

TEST(SpaceTimes, InThePlaneAreThoseOfThePlane) {
  CurveShape tilted = shape_of(CurveKind::plane, 1e-3);
  tilted.angle = 6.0;
  std::size_t both = 0;
  for (const CurveShape& front : {shape_of(CurveKind::plane, 0.0), tilted, shape_of(CurveKind::cylinder, 0.0, 60e-3)}) {
    for (const CurveShape& back : {shape_of(CurveKind::plane, 25e-3), shape_of(CurveKind::cylinder, 25e-3, 80e-3)}) {
      const std::vector<Place> elements{{-6e-3, -15e-3}, {1e-3, -14e-3}, {7e-3, -16e-3}};
      const std::vector<Place> places{{-4e-3, 10e-3}, {3e-3, 14e-3}, {0.0, 18e-3}};
      const SimulatedScene scene = scene_of(front, back);
      const LeastTimes plane(scene, aluminium, elements, places);
      std::vector<Spot> own;
      for (const Place& at : elements) own.push_back({at.x, 0.0, at.z});
      std::vector<Spot> to;
      for (const Place& at : places) to.push_back({at.x, 0.0, at.z});
      const SpaceTimes space(scene, aluminium, own, to);
      for (std::size_t element = 0; element < elements.size(); ++element) {
        for (const std::string& modes : all_sides) {
          for (std::size_t k = 0; k < places.size(); ++k) {
            const Ray ray = plane.side(element, modes, places[k]);
            const Way way = space.side(element, modes, to[k]);
            EXPECT_EQ(ray.found(), way.found()) << modes << ' ' << element << ' ' << k;
            if (!ray.found() || !way.found()) continue;
            ++both;
            EXPECT_NEAR(way.time, ray.time, exact) << modes;
            // Places are good to a micrometre or two in either; over 10 mm the angle's share of what goes on changes by 1e-3.
            EXPECT_NEAR(way.share, ray.share, 2e-3) << modes;
            EXPECT_NEAR(way.reach, ray.reach, 1e-5) << modes;
          }
        }
        for (std::size_t other = 0; other <= element; ++other) {
          const auto front_plane = plane.front_echo(other, element);
          const auto front_space = space.front_echo(other, element);
          ASSERT_EQ(front_plane.has_value(), front_space.has_value());
          if (front_plane) {
            EXPECT_NEAR(front_space->transmit.time + front_space->receive.time,
                        front_plane->transmit.time + front_plane->receive.time, exact);
          }
          for (const auto& [down, up] : {std::pair{'L', 'L'}, {'L', 'T'}, {'T', 'T'}}) {
            const auto back_plane = plane.backwall_echo(other, element, down, up);
            const auto back_space = space.backwall_echo(other, element, down, up);
            ASSERT_EQ(back_plane.has_value(), back_space.has_value());
            if (!back_plane) continue;
            EXPECT_NEAR(back_space->transmit.time + back_space->receive.time,
                        back_plane->transmit.time + back_plane->receive.time, exact);
            EXPECT_NEAR(back_space->share * back_space->transmit.share * back_space->receive.share,
                        back_plane->share * back_plane->transmit.share * back_plane->receive.share, 2e-3);
          }
        }
      }
    }
  }
  EXPECT_GT(both, 300U);
}

TEST(SpaceTimes, OfASceneThatIsTurnedAboutZAreTheSame) {
  // A rod before a plane that is tilted along it, and both turned by 30 degrees; tan of a tilt is what planes are told by.
  const double turn = 30.0;
  CurveShape rod = shape_of(CurveKind::cylinder, 0.0, 40e-3);
  CurveShape back = shape_of(CurveKind::plane, 22e-3);
  back.angle_across = 5.0;
  CurveShape turned_rod = rod;
  turned_rod.turn = turn;
  CurveShape turned_back = shape_of(CurveKind::plane, 22e-3);
  turned_back.angle = std::atan(std::tan(5.0 * degree) * std::sin(turn * degree)) / degree;
  turned_back.angle_across = std::atan(std::tan(5.0 * degree) * std::cos(turn * degree)) / degree;
  const auto turned = [&](const Spot& at) {
    const double cosine = std::cos(turn * degree);
    const double sine = std::sin(turn * degree);
    return Spot{cosine * at.x + sine * at.y, cosine * at.y - sine * at.x, at.z};
  };
  const std::vector<Spot> elements{{-3e-3, 2e-3, -14e-3}, {4e-3, -5e-3, -15e-3}};
  const std::vector<Spot> places{{2e-3, 3e-3, 9e-3}, {-3e-3, -1e-3, 13e-3}};
  std::vector<Spot> turned_elements;
  std::vector<Spot> turned_places;
  for (const Spot& at : elements) turned_elements.push_back(turned(at));
  for (const Spot& at : places) turned_places.push_back(turned(at));
  const SpaceTimes one(scene_of(rod, back), aluminium, elements, places);
  const SpaceTimes other(scene_of(turned_rod, turned_back), aluminium, turned_elements, turned_places);
  std::size_t both = 0;
  for (const std::string& modes : all_sides) {
    for (std::size_t element = 0; element < 2; ++element) {
      for (std::size_t k = 0; k < 2; ++k) {
        const Way a = one.side(element, modes, places[k]);
        const Way b = other.side(element, modes, turned_places[k]);
        ASSERT_EQ(a.found(), b.found()) << modes;
        if (!a.found()) continue;
        ++both;
        EXPECT_NEAR(a.time, b.time, exact) << modes;
      }
    }
  }
  EXPECT_GT(both, 30U);
}

TEST(SpaceTimes, SkipsInContactAreThoseOfTheImageSource) {
  const double along = std::tan(4.0 * degree);
  const double across = std::tan(-7.0 * degree);
  CurveShape back = shape_of(CurveKind::plane, 20e-3);
  back.angle = 4.0;
  back.angle_across = -7.0;
  const std::vector<Spot> elements{{-3e-3, 4e-3, 0.0}, {5e-3, -2e-3, 0.0}};
  const std::vector<Spot> places{{2e-3, 3e-3, 9e-3}, {-3e-3, -4e-3, 12e-3}};
  const SpaceTimes times(scene_of({}, back, false), aluminium, elements, places);
  const Spot normal{-along, -across, 1.0};
  const auto mirrored = [&](const Spot& at) {
    const double depth = (at.z - 20e-3 - along * at.x - across * at.y) / inner(normal, normal);
    return at - (2.0 * depth) * normal;
  };
  for (std::size_t element = 0; element < 2; ++element) {
    for (const Spot& to : places) {
      EXPECT_NEAR(times.side(element, "TT", to).time, distance(elements[element], mirrored(to)) / 3130.0, exact);
      // The front is z = 0: seen from the backwall the place lies above it.
      EXPECT_NEAR(times.side(element, "LLL", to).time, distance(elements[element], mirrored({to.x, to.y, -to.z})) / 6320.0,
                  exact);
    }
    const auto wall = times.backwall_echo(0, element, 'L', 'L');
    ASSERT_TRUE(wall);
    EXPECT_NEAR(wall->transmit.time + wall->receive.time, distance(elements[0], mirrored(elements[element])) / 6320.0, exact);
  }
}

struct Front {
  const char* name;
  const char* lines;
};
const std::vector<Front> fronts{
    {"tilted", "kind = \"plane\"\nangle = 4\nangle_across = -6\n"},
    {"rod", "kind = \"cylinder\"\nradius = 0.03\nturn = 35\ndip = 5\nx = 0.001\ny = -0.001\n"},
    {"bore", "kind = \"cylinder\"\nradius = 0.05\nturn = 35\nside = \"inside\"\n"},
    {"ball", "kind = \"sphere\"\nradius = 0.03\nx = 0.001\ny = 0.002\n"},
    {"hollow", "kind = \"sphere\"\nradius = 0.06\nside = \"inside\"\n"},
    {"plane", "kind = \"plane\"\n"},
    {"along_y", "kind = \"cylinder\"\nradius = 0.03\n"},
};

std::string scene_text(const Front& front, const std::string& more) {
  return fmt::format(
      "[material]\nlongitudinal_velocity = 6320\nshear_velocity = 3130\n[couplant]\nvelocity = "
      "1480\n[surface]\n{}[probe]\nstand_off "
      "= 0.012\n[simulator]\nelements = 6\nrows = 5\npitch = 0.9e-3\nelement_width = 0.4e-3\nelement_length = 0.4e-3\nsamples = "
      "1536\nsample_rate = 50e6\nnoise_rms = 0\nquantised = false\nencoding = \"float32\"\nwall_echoes = false\n{}",
      front.lines, more);
}

class SpaceFronts : public testing::TestWithParam<Front> {};

TEST_P(SpaceFronts, HaveTheRaysOfTheSolver) {
  const SimulatorConfiguration source =
      simulator_configuration(parse_configuration(scene_text(GetParam(), "points = [[0.0, 0.0, 0.012, 1.0]]\n"), "scene.toml"));
  const Probe probe = placed_probe(source);
  std::mt19937 random(17);
  std::uniform_real_distribution<double> beside(-7e-3, 7e-3), down(6e-3, 20e-3);
  std::vector<Spot> elements;
  std::vector<Point> sources;
  for (const Element& element : probe.elements) {
    elements.push_back(spot_of(element.centre));
    sources.push_back(element.centre);
  }
  std::vector<Spot> places;
  std::vector<Point> points;
  for (int k = 0; k < 12; ++k) {
    places.push_back({beside(random), beside(random), down(random)});
    points.push_back({Metres(places.back().x), Metres(places.back().y), Metres(places.back().z)});
  }
  const SpaceTimes times(source.scene, source.material, elements, places);
  const Configuration configuration = parse_configuration(scene_text(GetParam(), ""), "scene.toml");
  const MadeSurface surface =
      make_any_surface({"[surface]", configuration.surface.kind, configuration.surface.numbers, configuration.surface.words});
  std::size_t both = 0;
  double worst = 0.0;
  for (const auto& [mode, velocity] : {std::pair{"L", 6320.0}, {"T", 3130.0}}) {
    RayInterface front{surface.curve, false, false};
    front.spatial = surface.spatial;
    const auto field =
        make_ray_field({{MetresPerSecond(water), MetresPerSecond(velocity)}, {front}}, sources, SimdLevel::portable);
    std::vector<double> seconds(points.size());
    for (std::size_t element = 0; element < elements.size(); ++element) {
      field->times(element, element + 1, points, seconds);
      for (std::size_t k = 0; k < points.size(); ++k) {
        const Way way = times.side(element, mode, places[k]);
        ASSERT_EQ(way.found(), !std::isnan(seconds[k])) << mode << ' ' << element << ' ' << k;
        if (!way.found()) continue;
        ++both;
        worst = std::max(worst, std::abs(way.time - seconds[k]));
      }
    }
  }
  std::printf("%-8s %zu rays, off by at most %.1e s\n", GetParam().name, both, worst);
  EXPECT_GT(both, 500U);
  EXPECT_LE(worst, exact);
}

TEST_P(SpaceFronts, ShowPointsWhereTheyAre) {
  // Each alone: echoes of one by way of L both ways lie on top of another's by way of T.
  for (const Spot& at : {Spot{1.5e-3, -2e-3, 11e-3}, Spot{-2e-3, 3e-3, 13e-3}}) {
    const std::string text =
        scene_text(GetParam(), fmt::format("points = [[{}, {}, {}, 1.0]]\n", at.x, at.y, at.z)) +
        fmt::format(
            "[grid]\nx = [{}, {}]\ny = [{}, {}]\nz = [{}, {}]\npixels = [13, 13, 13]\n[imaging]\ndelay_law = \"immersion\"\n"
            "views = [\"LL\", \"LT\"]\nbackend = \"cpu\"\n[filter]\nkind = \"none\"\n",
            at.x - 6e-4, at.x + 6e-4, at.y - 6e-4, at.y + 6e-4, at.z - 6e-4, at.z + 6e-4);
    const Configuration configuration = parse_configuration(text, "scene.toml");
    const test::ImagedScene imaged = test::image_scene(configuration, test::frame_of(simulator_configuration(configuration)));
    for (std::size_t view = 0; view < 2; ++view) {
      const std::string& name = imaged.plan->laws[view].view;
      const test::ScenePeak peak = test::peak_of(imaged, view, at.x, at.z, 1.01e-3);
      std::printf("%-8s %s off by (%5.2f, %5.2f, %5.2f) mm, %.2e\n", GetParam().name, name.c_str(), 1e3 * (peak.x - at.x),
                  1e3 * (peak.y - at.y), 1e3 * (peak.z - at.z), static_cast<double>(peak.value));
      EXPECT_LE(std::hypot(peak.x - at.x, peak.y - at.y, peak.z - at.z), test::quarter_wavelength(*imaged.plan, name));
      EXPECT_GT(peak.value, 0.0F);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SpaceFronts, testing::ValuesIn(fronts),
                         [](const auto& front) { return std::string(front.param.name); });

struct Part {
  const char* name;
  const char* front;
  const char* backwall;
};
const std::vector<Part> parts{
    {"tilted", "kind = \"plane\"\nangle = 3\nangle_across = -4\n", "kind = \"plane\"\nz = 0.022\nangle_across = 3\n"},
    {"rod", "kind = \"cylinder\"\nradius = 0.04\nturn = 35\n",
     "kind = \"cylinder\"\nradius = 0.06\nz = 0.022\nturn = 35\nside = \"inside\"\n"},
    {"ball", "kind = \"sphere\"\nradius = 0.05\n", "kind = \"plane\"\nz = 0.022\nangle = -3\nangle_across = 2\n"},
    {"cavity", "kind = \"plane\"\n", "kind = \"sphere\"\nradius = 0.03\nz = 0.022\nx = 0.001\n"},
};

class SpaceParts : public testing::TestWithParam<Part> {
 protected:
  static std::string text(const std::string& more) {
    return scene_text({GetParam().name, GetParam().front}, more) + fmt::format("[backwall]\n{}", GetParam().backwall);
  }
};

TEST_P(SpaceParts, HaveTheSkipsOfTheSolver) {
  const Configuration configuration = parse_configuration(text("points = [[0.0, 0.0, 0.012, 1.0]]\nskips = 2\n"), "scene.toml");
  const SimulatorConfiguration source = simulator_configuration(configuration);
  std::vector<Spot> elements;
  std::vector<Point> sources;
  for (std::size_t k = 0; k < 30; k += 7) {
    sources.push_back(placed_probe(source).elements[k].centre);
    elements.push_back(spot_of(sources.back()));
  }
  std::mt19937 random(19);
  std::uniform_real_distribution<double> beside(-6e-3, 6e-3), down(6e-3, 18e-3);
  std::vector<Spot> places;
  std::vector<Point> points;
  for (int k = 0; k < 8; ++k) {
    places.push_back({beside(random), beside(random), down(random)});
    points.push_back({Metres(places.back().x), Metres(places.back().y), Metres(places.back().z)});
  }
  const SpaceTimes times(source.scene, source.material, elements, places);
  const Scene scene = make_scene(configuration);
  std::size_t both = 0;
  std::size_t unsharp = 0;
  double worst = 0.0;
  for (const std::string modes : {"LL", "LT", "TT", "LLL", "TTT"}) {
    RayPath path = path_in_part(modes, source.material, scene);
    path.velocities.insert(path.velocities.begin(), scene.couplant);
    path.interfaces.insert(path.interfaces.begin(), {scene.surface, false, false, scene.spatial_surface});
    const auto field = make_ray_field(path, sources, SimdLevel::portable);
    std::vector<double> seconds(points.size());
    for (std::size_t element = 0; element < elements.size(); ++element) {
      field->times(element, element + 1, points, seconds);
      for (std::size_t k = 0; k < points.size(); ++k) {
        const Way way = times.side(element, modes, places[k]);
        EXPECT_EQ(way.found(), !std::isnan(seconds[k])) << modes << ' ' << element << ' ' << k;
        if (!way.found() || std::isnan(seconds[k])) continue;
        ++both;
        worst = std::max(worst, std::abs(way.time - seconds[k]));
        unsharp += std::abs(way.time - seconds[k]) > exact ? 1 : 0;
      }
    }
  }
  std::printf("%-8s %zu skips, off by at most %.1e s, %zu of them by more than %.0e\n", GetParam().name, both, worst, unsharp,
              exact);
  EXPECT_GT(both, 100U);
  // From below the rod's front is a concave mirror: towards places near its focus, 20 mm, ways beside each other take nearly the
  // same time, and steps of a third of a micrometre come to rest before the least of them.
  EXPECT_LE(worst, 1e-9);
  EXPECT_LE(20 * unsharp, both);
}

TEST_P(SpaceParts, ShowAPointByWayOfTheBackwall) {
  const Spot at{1.5e-3, -1e-3, 12e-3};
  const std::string scene =
      text(fmt::format("points = [[{}, {}, {}, 1.0]]\n", at.x, at.y, at.z)) +
      fmt::format(
          "[grid]\nx = [{}, {}]\ny = [{}, {}]\nz = [{}, {}]\npixels = [9, 9, 9]\n[imaging]\ndelay_law = \"immersion\"\n"
          "views = [\"LL-LL\"]\nbackend = \"cpu\"\n[filter]\nkind = \"none\"\n",
          at.x - 6e-4, at.x + 6e-4, at.y - 6e-4, at.y + 6e-4, at.z - 6e-4, at.z + 6e-4);
  const Configuration configuration = parse_configuration(scene, "scene.toml");
  const test::ImagedScene imaged = test::image_scene(configuration, test::frame_of(simulator_configuration(configuration)));
  const test::ScenePeak peak = test::peak_of(imaged, 0, at.x, at.z, 1.01e-3);
  std::printf("%-8s LL-LL off by (%5.2f, %5.2f, %5.2f) mm, %.2e\n", GetParam().name, 1e3 * (peak.x - at.x), 1e3 * (peak.y - at.y),
              1e3 * (peak.z - at.z), static_cast<double>(peak.value));
  EXPECT_LE(std::hypot(peak.x - at.x, peak.y - at.y, peak.z - at.z), test::quarter_wavelength(*imaged.plan, "LL"));
  EXPECT_GT(peak.value, 0.0F);
}

INSTANTIATE_TEST_SUITE_P(All, SpaceParts, testing::ValuesIn(parts),
                         [](const auto& part) { return std::string(part.param.name); });

std::string fault_of(const std::string& text) {
  return test::input_error([&] { static_cast<void>(simulator_configuration(parse_configuration(text, "scene.toml"))); });
}

TEST(SpaceScenes, SayWhatIsOutsideOrNotSimulated) {
  EXPECT_THAT(
      fault_of(scene_text(fronts[3], "points = [[0.0, 0.02, 0.004, 1.0]]\n")),
      HasSubstr("[simulator] scatterer \"point 0\": found a place at (0, 20, 4) mm, 1.64 mm above the front surface; expected "
                "a reflector inside the part"));
  // Holes are cylinders there.
  EXPECT_EQ(fault_of(scene_text(fronts[0], "holes = [[0.0, 0.012, 0.001, 1.0]]\n")), "");
  EXPECT_THAT(fault_of(scene_text({"", "kind = \"sphere\"\nradius = 0.03\nz = -0.02\n"}, "points = [[0.0, 0.0, 0.01, 1.0]]\n")),
              HasSubstr("placement: found element 0 at (-2.25, -1.8, -12) mm, "));
}

}  // namespace
}  // namespace echoform::simulated::space_times_test
