// Revolved profiles and parts of triangles as the simulated source knows them: arrival times against plain searches over the
// surfaces, a sphere that is told otherwise, and the imaging side's rays.
#include "simulators/solid_shapes.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "methods/tfm/simulated_scene.hpp"
#include "rays/ray_field.hpp"
#include "rays/surface_kind.hpp"
#include "settings/reader.hpp"
#include "simulators/space_times.hpp"
#include "tests/simulators/imaged.hpp"

namespace echoform::simulated::solid_shapes_test {
namespace {

constexpr double degree = std::numbers::pi / 180.0;
constexpr double water = 1480.0;
const Material aluminium{MetresPerSecond(6320.0), MetresPerSecond(3130.0)};

/// Written once, in a folder of its own.
std::string file_of(const std::string& name, const std::string& text) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "solid_shapes_test";
  std::filesystem::create_directories(folder);
  const std::string path = (folder / name).string();
  std::ofstream(path) << text;
  return path;
}

/// A ball of triangles, by halving those of an octahedron.
std::string ball_of_triangles(double radius_mm, const std::array<double, 3>& centre_mm, int halvings) {
  using Corner = std::array<double, 3>;
  std::vector<std::array<Corner, 3>> triangles;
  for (const double x : {-1.0, 1.0}) {
    for (const double y : {-1.0, 1.0}) {
      for (const double z : {-1.0, 1.0}) {
        const Corner a{x, 0, 0}, b{0, y, 0}, c{0, 0, z};
        if (x * y * z > 0.0) {
          triangles.push_back({a, b, c});
        } else {
          triangles.push_back({a, c, b});
        }
      }
    }
  }
  const auto middle = [](const Corner& a, const Corner& b) {
    const Corner m{a[0] + b[0], a[1] + b[1], a[2] + b[2]};
    const double size = std::hypot(m[0], m[1], m[2]);
    return Corner{m[0] / size, m[1] / size, m[2] / size};
  };
  for (int k = 0; k < halvings; ++k) {
    std::vector<std::array<Corner, 3>> finer;
    for (const auto& [a, b, c] : triangles) {
      const Corner ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
      finer.insert(finer.end(), {{a, ab, ca}, {ab, b, bc}, {ca, bc, c}, {ab, bc, ca}});
    }
    triangles = std::move(finer);
  }
  std::string text = "solid ball\n";
  for (const auto& triangle : triangles) {
    text += "facet normal 0 0 0\nouter loop\n";
    for (const Corner& at : triangle) {
      text += fmt::format("vertex {:.17g} {:.17g} {:.17g}\n", centre_mm[0] + radius_mm * at[0], centre_mm[1] + radius_mm * at[1],
                          centre_mm[2] + radius_mm * at[2]);
    }
    text += "endloop\nendfacet\n";
  }
  return text + "endsolid ball\n";
}

struct Solid {
  const char* name;
  std::function<std::string()> surface;  ///< lines of [surface]
  double stand_off;
  double within;  ///< seconds, of the solver's times
};

/// Where chords and lines are exact: as space_times_test.cpp has it.
constexpr double exact = 1e-12;
/// Of triangles: where steps come to rest on a facet beside the least one's, both a millimetre wide and by less than a micrometre
/// off the ball, times are late by a share of that in water.
constexpr double of_facets = 1e-9;

const std::vector<Solid> solids{
    {"cone_upright",
     [] { return fmt::format("kind = \"revolved\"\nfile = \"{}\"\n", file_of("cone.csv", "0,0.012\n0.02,0.03\n0.04,0.03\n")); },
     12e-3, exact},
    {"turned_part_along_y",
     [] {
       return fmt::format("kind = \"revolved\"\nfile = \"{}\"\ndip = 0\nz = 0.025\nx = 0.001\n",
                          file_of("barrel.csv", "-0.02,0.022\n0.02,0.022,0.08\n"));
     },
     10e-3, exact},
    {"torus",
     // About an axis 40 mm off, along y: what lies below the probe is the outside of a ring.
     [] {
       return fmt::format("kind = \"revolved\"\nfile = \"{}\"\ndip = 3\nturn = 20\nz = 0.04\n",
                          file_of("ring.csv", "-0.01,0.03\n0.01,0.03,0.012\n"));
     },
     12e-3, exact},
    {"spline",
     [] {
       return fmt::format("kind = \"revolved\"\nfile = \"{}\"\ndip = 0\nz = 0.03\ninterpolation = \"spline\"\n",
                          file_of("spline.csv", "-0.03,0.028\n-0.015,0.0295\n0,0.03\n0.015,0.0295\n0.03,0.028\n"));
     },
     12e-3, 1e-10},
    {"bore",
     [] {
       return fmt::format("kind = \"revolved\"\nfile = \"{}\"\ndip = 0\nz = -0.03\nside = \"inside\"\n",
                          file_of("bore.csv", "-0.03,0.03\n0.03,0.034\n"));
     },
     10e-3, exact},
    {"ball_of_triangles",
     [] {
       return fmt::format("kind = \"stl\"\nfile = \"{}\"\n", file_of("ball.stl", ball_of_triangles(30.0, {0.3, -0.4, 30.0}, 6)));
     },
     12e-3, of_facets},
};

std::string scene_text(const Solid& solid, const std::string& more) {
  return fmt::format(
      "[material]\nlongitudinal_velocity = 6320\nshear_velocity = 3130\n[couplant]\nvelocity = 1480\n[surface]\n{}[probe]\n"
      "stand_off = {}\n[simulator]\nelements = 4\nrows = 4\npitch = 1.3e-3\nelement_width = 0.4e-3\nelement_length = 0.4e-3\n"
      "samples = 1536\nsample_rate = 50e6\nnoise_rms = 0\nquantised = false\nencoding = \"float32\"\nwall_echoes = false\n{}",
      solid.surface(), solid.stand_off, more);
}

class SolidFronts : public testing::TestWithParam<Solid> {};

TEST_P(SolidFronts, HaveTheRaysOfTheSolver) {
  const Configuration configuration =
      parse_configuration(scene_text(GetParam(), "points = [[0.0, 0.0, 0.012, 1.0]]\n"), "scene.toml");
  const SimulatorConfiguration source = simulator_configuration(configuration);
  std::mt19937 random(23);
  std::uniform_real_distribution<double> beside(-5e-3, 5e-3), down(6e-3, 18e-3);
  std::vector<Spot> elements;
  std::vector<Point> sources;
  for (const Element& element : placed_probe(source).elements) {
    elements.push_back(spot_of(element.centre));
    sources.push_back(element.centre);
  }
  std::vector<Spot> places;
  std::vector<Point> points;
  for (int k = 0; k < 8; ++k) {
    places.push_back({beside(random), beside(random), down(random)});
    points.push_back({Metres(places.back().x), Metres(places.back().y), Metres(places.back().z)});
  }
  const SpaceTimes times(source.scene, source.material, elements, places);
  const MadeSurface surface =
      make_any_surface({"[surface]", configuration.surface.kind, configuration.surface.numbers, configuration.surface.words});
  ASSERT_NE(surface.spatial, nullptr);
  std::size_t both = 0;
  double worst = 0.0;
  for (const auto& [mode, in_part] : {std::pair{"L", 6320.0}, {"T", 3130.0}}) {
    RayInterface front{surface.curve, false, false};
    front.spatial = surface.spatial;
    const auto field =
        make_ray_field({{MetresPerSecond(water), MetresPerSecond(in_part)}, {front}}, sources, SimdLevel::portable);
    std::vector<double> seconds(points.size());
    for (std::size_t element = 0; element < elements.size(); ++element) {
      field->times(element, element + 1, points, seconds);
      for (std::size_t k = 0; k < points.size(); ++k) {
        const Way way = times.side(element, mode, places[k]);
        EXPECT_EQ(way.found(), !std::isnan(seconds[k])) << mode << ' ' << element << ' ' << k;
        if (!way.found() || std::isnan(seconds[k])) continue;
        ++both;
        worst = std::max(worst, std::abs(way.time - seconds[k]));
      }
    }
  }
  std::printf("%-20s %zu rays, off by at most %.1e s\n", GetParam().name, both, worst);
  EXPECT_GT(both, 200U);
  EXPECT_LE(worst, GetParam().within);
}

TEST_P(SolidFronts, ShowAPointWhereItIs) {
  const Spot at{1e-3, -1.5e-3, 12e-3};
  const std::string text =
      scene_text(GetParam(), fmt::format("points = [[{}, {}, {}, 1.0]]\n", at.x, at.y, at.z)) +
      fmt::format(
          "[grid]\nx = [{}, {}]\ny = [{}, {}]\nz = [{}, {}]\npixels = [9, 9, 9]\n[imaging]\ndelay_law = \"immersion\"\n"
          "views = [\"LL\"]\nbackend = \"cpu\"\n[filter]\nkind = \"none\"\n",
          at.x - 6e-4, at.x + 6e-4, at.y - 6e-4, at.y + 6e-4, at.z - 6e-4, at.z + 6e-4);
  const Configuration configuration = parse_configuration(text, "scene.toml");
  const test::ImagedScene imaged = test::image_scene(configuration, test::frame_of(simulator_configuration(configuration)));
  const test::ScenePeak peak = test::peak_of(imaged, 0, at.x, at.z, 1.01e-3);
  EXPECT_LE(std::hypot(peak.x - at.x, peak.y - at.y, peak.z - at.z), test::quarter_wavelength(*imaged.plan, "LL"));
  EXPECT_GT(peak.value, 0.0F);
}

INSTANTIATE_TEST_SUITE_P(All, SolidFronts, testing::ValuesIn(solids),
                         [](const auto& solid) { return std::string(solid.param.name); });

SimulatedScene scene_of(const CurveShape& surface) {
  SimulatedScene scene;
  scene.couplant = MetresPerSecond(water);
  scene.surface = surface;
  scene.modes = "LT";
  return scene;
}

const std::vector<Spot> some_elements{{-3e-3, 2e-3, -12e-3}, {0.0, 0.0, -13e-3}, {4e-3, -5e-3, -15e-3}};
const std::vector<Spot> some_places{{2e-3, 3e-3, 9e-3}, {0.0, 0.0, 12e-3}, {-3e-3, -1e-3, 13e-3}};

TEST(SolidShapes, AHalfCircleAboutAnyAxisIsASphere) {
  CurveShape sphere;
  sphere.kind = CurveKind::sphere;
  sphere.radius = 30e-3;
  const SpaceTimes expected(scene_of(sphere), aluminium, some_elements, some_places);
  for (const auto& [turn, dip] : {std::pair{0.0, 90.0}, {0.0, 0.0}, {70.0, 0.0}, {30.0, 40.0}, {-50.0, -75.0}}) {
    CurveShape revolved;
    revolved.kind = CurveKind::revolved;
    revolved.z = 30e-3;
    revolved.turn = turn;
    revolved.dip = dip;
    revolved.knots = {{-30e-3, 0.0, 0.0}, {0.0, 30e-3, 30e-3}, {30e-3, 0.0, 30e-3}};
    const SpaceTimes times(scene_of(revolved), aluminium, some_elements, some_places);
    for (std::size_t element = 0; element < 3; ++element) {
      for (const Spot& to : some_places) {
        for (const char* mode : {"L", "T"}) {
          const Way one = times.side(element, mode, to);
          const Way other = expected.side(element, mode, to);
          EXPECT_NEAR(one.time, other.time, exact) << turn << ' ' << dip << ' ' << mode;
          EXPECT_NEAR(one.share, other.share, 2e-3);
        }
      }
      const auto one = times.front_echo(0, element);
      const auto other = expected.front_echo(0, element);
      ASSERT_TRUE(one && other) << turn << ' ' << dip;
      EXPECT_NEAR(one->transmit.time + one->receive.time, other->transmit.time + other->receive.time, exact);
    }
  }
}

TEST(SolidShapes, OfARingTheLeastTimesAreThoseOfASearchAllOverIt) {
  // A ring, 10 mm thick, its middle 25 mm off the axis z, its crown at z = 0.
  constexpr double middle = 25e-3;
  constexpr double thick = 5e-3;
  CurveShape ring;
  ring.kind = CurveKind::revolved;
  ring.dip = 90.0;
  ring.x = -middle;
  ring.z = thick;
  // Along the axis from its top down, the outer half.
  ring.knots = {{-thick, middle, 0.0}, {0.0, middle + thick, thick}, {thick, middle, thick}};
  const std::vector<Spot> elements{{2e-3, -2e-3, -9e-3}, {6e-3, 1e-3, -7e-3}};
  const std::vector<Spot> places{{2e-3, 0.0, 4e-3}, {1.5e-3, 2e-3, 6e-3}};
  const SpaceTimes times(scene_of(ring), aluminium, elements, places);
  for (std::size_t element = 0; element < 2; ++element) {
    for (const Spot& to : places) {
      double least = std::numeric_limits<double>::infinity();
      double u0 = 0.0, u1 = 0.5 * std::numbers::pi, v0 = -0.5, v1 = 0.5;
      for (int pass = 0; pass < 5; ++pass) {
        double u = u0, v = v0;
        const double du = (u1 - u0) / 200, dv = (v1 - v0) / 200;
        for (int i = 0; i <= 200; ++i) {
          for (int j = 0; j <= 200; ++j) {
            const double out = middle + thick * std::sin(u0 + i * du);
            const double angle = v0 + j * dv;
            const Spot at{-middle + out * std::cos(angle), out * std::sin(angle), thick - thick * std::cos(u0 + i * du)};
            const double time = distance(elements[element], at) / water + distance(at, to) / 6320.0;
            if (!(time < least)) continue;
            least = time;
            u = u0 + i * du;
            v = angle;
          }
        }
        u0 = std::max(0.0, u - du), u1 = u + du, v0 = v - dv, v1 = v + dv;
      }
      EXPECT_NEAR(times.side(element, "L", to).time, least, 1e-11);
    }
  }
}

TEST(SolidShapes, ACavityOfTrianglesEchoesAsASphere) {
  // As a backwall in contact; times of the ball are early or late by what the facets lie below it: 0.5 mm wide ones on 10 mm lie
  // 3 um deep, 2 * 3 um / 3130 m/s.
  constexpr double below = 2e-9;
  const std::string file = file_of("cavity.stl", ball_of_triangles(10.0, {0.0, 0.0, 30.0}, 6));
  const std::string text =
      "[material]\nlongitudinal_velocity = 6320\nshear_velocity = 3130\n[simulator]\nelements = 3\nrows = 2\npitch = 3e-3\n"
      "points = [[0.004, 0.003, 0.008, 1.0]]\n[backwall]\n";
  const SimulatorConfiguration one =
      simulator_configuration(parse_configuration(fmt::format("{}kind = \"stl\"\nfile = \"{}\"\n", text, file), "part.toml"));
  const SimulatorConfiguration other =
      simulator_configuration(parse_configuration(text + "kind = \"sphere\"\nradius = 0.01\nz = 0.02\n", "part.toml"));
  std::vector<Spot> elements;
  for (const Element& element : placed_probe(one).elements) elements.push_back(spot_of(element.centre));
  const std::vector<Spot> places{{4e-3, 3e-3, 8e-3}, {-2e-3, 1e-3, 12e-3}};
  const SpaceTimes mesh(one.scene, aluminium, elements, places);
  const SpaceTimes sphere(other.scene, aluminium, elements, places);
  for (std::size_t element = 0; element < elements.size(); ++element) {
    for (const Spot& to : places) {
      for (const char* modes : {"LL", "TT", "LT"}) {
        EXPECT_NEAR(mesh.side(element, modes, to).time, sphere.side(element, modes, to).time, below) << modes << element;
      }
    }
    const auto a = mesh.backwall_echo(0, element, 'L', 'T');
    const auto b = sphere.backwall_echo(0, element, 'L', 'T');
    ASSERT_TRUE(a && b) << element << a.has_value() << b.has_value();
    EXPECT_NEAR(a->transmit.time + a->receive.time, b->transmit.time + b->receive.time, below);
  }
  // Behind it nothing is straight.
  EXPECT_FALSE(mesh.side(0, "L", {0.0, 0.0, 45e-3}).found());
}

}  // namespace
}  // namespace echoform::simulated::solid_shapes_test
