// Balls, cylinders, discs and plates in space: arrival times against plain searches over their surfaces, image sources, and the
// imaging side's rays; holes in space against holes in the plane; images.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "methods/tfm/simulated_scene.hpp"
#include "rays/ray_field.hpp"
#include "rays/surface_kind.hpp"
#include "settings/reader.hpp"
#include "simulators/scene_echoes.hpp"
#include "tests/simulators/imaged.hpp"

namespace echoform::bodies_test {
namespace {

using ::testing::HasSubstr;

constexpr double degree = std::numbers::pi / 180.0;
constexpr double velocity = 6320.0;
/// What a quadratic through three by three places leaves (simulators/body_shape.hpp), of two ways.
constexpr double exact = 6e-10;

using Vector = std::array<double, 3>;

Vector sum(const Vector& a, double k, const Vector& b) {
  return {a[0] + k * b[0], a[1] + k * b[1], a[2] + k * b[2]};
}
double dot_of(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
double far(const Vector& a, const Vector& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

using Function = std::function<double(double, double)>;

/// The least of f over a rectangle: of 81 x 81 values, then over the four cells about the least one, and so on.
double least_over(const Function& f, double u0, double u1, double v0, double v1) {
  double least = std::numeric_limits<double>::infinity();
  const std::array<double, 4> bounds{u0, u1, v0, v1};
  for (int pass = 0; pass < 6; ++pass) {
    constexpr int cells = 80;
    const double du = (u1 - u0) / cells;
    const double dv = (v1 - v0) / cells;
    double u = u0;
    double v = v0;
    for (int i = 0; i <= cells; ++i) {
      for (int j = 0; j <= cells; ++j) {
        const double here = f(u0 + i * du, v0 + j * dv);
        if (!(here < least)) continue;
        least = here;
        u = u0 + i * du;
        v = v0 + j * dv;
      }
    }
    u0 = std::max(bounds[0], u - du);
    u1 = std::min(bounds[1], u + du);
    v0 = std::max(bounds[2], v - dv);
    v1 = std::min(bounds[3], v + dv);
  }
  return least;
}

/// 3 x 3 elements on z = 0, in contact with a part that has one reflector.
std::string contact(const std::string& reflector) {
  return fmt::format(
      "[material]\nlongitudinal_velocity = 6320\nshear_velocity = 3130\n[simulator]\nelements = 3\nrows = 3\npitch = 4e-3\n"
      "element_width = 1e-3\nelement_length = 1e-3\ndirectivity = false\nspreading = \"none\"\n{}",
      reflector);
}

struct Source {
  explicit Source(const std::string& text) : configuration(simulator_configuration(parse_configuration(text, "part.toml"))) {
    probe = placed_probe(configuration);
    const SceneOptions options{configuration.scene, configuration.material, configuration.spreading, configuration.directivity};
    scene = std::make_unique<SceneEchoes>(probe, options, configuration.phantom, std::vector<double>{0.0});
  }
  [[nodiscard]] std::vector<Echo> echoes(std::size_t i, std::size_t j) const {
    std::vector<Echo> found;
    scene->echoes(scene->at(0.0), i, j, found);
    std::ranges::sort(found, {}, &Echo::time);
    return found;
  }
  [[nodiscard]] Vector element(std::size_t k) const {
    const Point& at = probe.elements[k].centre;
    return {at.x.value, at.y.value, at.z.value};
  }

  SimulatorConfiguration configuration;
  Probe probe;
  std::unique_ptr<SceneEchoes> scene;
};

TEST(Bodies, ASphereAnswersFromTheLeastWayOverIt) {
  for (const auto& ball : {std::pair{Vector{1.7e-3, -2.3e-3, 14e-3}, 2e-3}, {Vector{-6e-3, 3e-3, 22e-3}, 6e-3}}) {
    const Vector& centre = ball.first;
    const double radius = ball.second;
    const Source source(contact(fmt::format("spheres = [[{}, {}, {}, {}, 0.5]]\n", centre[0], centre[1], centre[2], radius)));
    double worst = 0.0;
    for (std::size_t i = 0; i < 9; ++i) {
      for (std::size_t j = 0; j < 9; ++j) {
        const std::vector<Echo> echoes = source.echoes(i, j);
        ASSERT_EQ(echoes.size(), 1U);
        const Vector from = source.element(i);
        const Vector to = source.element(j);
        const auto time = [&](double down, double round) {
          const Vector at =
              sum(centre, radius, {std::sin(down) * std::cos(round), std::sin(down) * std::sin(round), -std::cos(down)});
          return (far(from, at) + far(at, to)) / velocity;
        };
        worst = std::max(worst,
                         std::abs(echoes[0].time - least_over(time, 0.0, 0.5 * std::numbers::pi, 0.0, 2.0 * std::numbers::pi)));
        // Half the angle between both ways, by the cosine law of the triangle with the ball's centre, is less than that at the
        // centre.
        EXPECT_LE(echoes[0].amplitude, 0.5);
        EXPECT_GT(echoes[0].amplitude, i == j ? 0.4999 : 0.45);
      }
    }
    std::printf("sphere of %g mm: off by at most %.1e s\n", 1e3 * radius, worst);
    EXPECT_LE(worst, exact);
  }
}

TEST(Bodies, ACylinderAnswersFromTheLeastWayOverItsSide) {
  const Vector centre{1e-3, 0.5e-3, 16e-3};
  const double turn = 35.0 * degree;
  const double dip = 12.0 * degree;
  const double radius = 1.5e-3;
  const Source source(contact("cylinders = [[0.001, 0.0005, 0.016, 0.0015, 0.03, 35, 12, 1.0]]\n"));
  const Vector axis{std::cos(dip) * std::sin(turn), std::cos(dip) * std::cos(turn), std::sin(dip)};
  const Vector across{std::cos(turn), -std::sin(turn), 0.0};
  const Vector up{std::sin(dip) * std::sin(turn), std::sin(dip) * std::cos(turn), -std::cos(dip)};
  double worst = 0.0;
  for (std::size_t i = 0; i < 9; ++i) {
    for (std::size_t j = 0; j < 9; ++j) {
      const Vector from = source.element(i);
      const Vector to = source.element(j);
      const auto time = [&](double angle, double along) {
        const Vector at = sum(sum(sum(centre, along, axis), radius * std::sin(angle), across), radius * std::cos(angle), up);
        return (far(from, at) + far(at, to)) / velocity;
      };
      const std::vector<Echo> echoes = source.echoes(i, j);
      ASSERT_EQ(echoes.size(), 1U) << i << ' ' << j;
      worst = std::max(worst, std::abs(echoes[0].time - least_over(time, -1.5, 1.5, -15e-3, 15e-3)));
    }
  }
  std::printf("cylinder: off by at most %.1e s\n", worst);
  EXPECT_LE(worst, exact);
  // Where no place of it mirrors a way between elements 4 mm apart it is silent: a short one far to the side, its axis towards
  // them.
  const Source beside(contact("cylinders = [[0.03, 0.0, 0.01, 0.0015, 0.001, 90, 0, 1.0]]\n"));
  EXPECT_TRUE(beside.echoes(0, 0).empty());
}

TEST(Bodies, FlatOnesAnswerAsMirrorsAndFromTheirEdges) {
  struct Flat {
    std::string key;
    bool disc;
    double x, y;  // halves
    Vector centre;
    double turn, dip;
  };
  const std::array<Flat, 4> flats{
      Flat{"discs = [[0.0005, 0.001, 0.015, 0.003, 20, 6, 0.8]]\n", true, 3e-3, 3e-3, {0.5e-3, 1e-3, 15e-3}, 20, 6},
      Flat{"plates = [[0.0005, 0.001, 0.015, 0.008, 0.006, 20, -7, 0.8]]\n", false, 4e-3, 3e-3, {0.5e-3, 1e-3, 15e-3}, 20, -7},
      Flat{"discs = [[0.0, 0.0, 0.02, 0.0015, 0, 0, 0.8]]\n", true, 1.5e-3, 1.5e-3, {0.0, 0.0, 20e-3}, 0, 0},
      // Upright: no way is mirrored at it, edges are all that is heard.
      Flat{"plates = [[0.006, 0.0, 0.015, 0.012, 0.003, 10, 90, 0.8]]\n", false, 6e-3, 1.5e-3, {6e-3, 0.0, 15e-3}, 10, 90}};
  std::size_t mirrored = 0;
  std::size_t edges = 0;
  double worst = 0.0;
  for (const Flat& flat : flats) {
    const Source source(contact(flat.key));
    const double t = flat.turn * degree;
    const double d = flat.dip * degree;
    const Vector level{std::sin(t), std::cos(t), 0.0};
    const Vector down{std::cos(d) * std::cos(t), -std::cos(d) * std::sin(t), std::sin(d)};
    const Vector normal{-std::sin(d) * std::cos(t), std::sin(d) * std::sin(t), std::cos(d)};
    for (std::size_t i = 0; i < 9; ++i) {
      for (std::size_t j = 0; j < 9; ++j) {
        const Vector from = source.element(i);
        const Vector to = source.element(j);
        const double height_from = dot_of(sum(from, -1.0, flat.centre), normal);
        const double height_to = dot_of(sum(to, -1.0, flat.centre), normal);
        std::vector<double> expected;
        const auto time = [&](double x, double y) {
          const Vector at = sum(sum(flat.centre, x, level), y, down);
          return (far(from, at) + far(at, to)) / velocity;
        };
        // Of the mirror's plane the place that divides the way as the heights do.
        const Vector image = sum(to, -2.0 * height_to, normal);
        const Vector at = sum(sum(from, height_from / (height_from + height_to), sum(image, -1.0, from)), -1.0, flat.centre);
        const double x = dot_of(at, level);
        const double y = dot_of(at, down);
        const bool on = flat.disc ? std::hypot(x, y) < flat.x : std::abs(x) < flat.x && std::abs(y) < flat.y;
        if (on && height_from * height_to > 0.0) {
          expected.push_back(far(from, image) / velocity);
          ++mirrored;
        }
        if (flat.disc) {
          const auto rim = [&](double angle) { return time(flat.x * std::cos(angle), flat.x * std::sin(angle)); };
          const double first = least_over([&](double a, double) { return rim(a); }, 0.0, 2.0 * std::numbers::pi, 0.0, 1.0);
          const double last = -least_over([&](double a, double) { return -rim(a); }, 0.0, 2.0 * std::numbers::pi, 0.0, 1.0);
          // From the middle above it none is first, and none or one is by rounding.
          if (last - first < 1e-12) continue;
          expected.push_back(first);
          expected.push_back(last);
        } else {
          for (const double end : {-1.0, 1.0}) {
            for (const bool along : {true, false}) {
              const double half = along ? flat.x : flat.y;
              const auto side = [&](double u, double) { return along ? time(u, end * flat.y) : time(end * flat.x, u); };
              const double least = least_over(side, -half, half, 0.0, 1.0);
              if (least < std::min(side(-half, 0.0), side(half, 0.0)) - 1e-12) expected.push_back(least);
            }
          }
        }
        edges += expected.size();
        std::ranges::sort(expected);
        const std::vector<Echo> echoes = source.echoes(i, j);
        ASSERT_EQ(echoes.size(), expected.size()) << flat.key << i << ' ' << j;
        for (std::size_t k = 0; k < expected.size(); ++k) {
          worst = std::max(worst, std::abs(echoes[k].time - expected[k]));
          EXPECT_LE(echoes[k].amplitude, 0.8);
        }
      }
    }
  }
  std::printf("flat: %zu mirrored, %zu in all, off by at most %.1e s\n", mirrored, edges, worst);
  EXPECT_GT(mirrored, 60U);
  EXPECT_GT(edges, 4 * mirrored / 2);
  EXPECT_LE(worst, exact);
}

const char* const below_a_ball =
    "[material]\nlongitudinal_velocity = 6320\nshear_velocity = 3130\n[couplant]\nvelocity = 1480\n"
    "[surface]\nkind = \"sphere\"\nradius = 0.04\n[probe]\nstand_off = 0.01\n[simulator]\nelements = 3\nrows = 2\npitch = 3e-3\n"
    "element_width = 1e-3\nelement_length = 1e-3\nwall_echoes = false\n";

TEST(Bodies, BelowASurfaceTheyAnswerAsTheImagingSidesRaysHaveIt) {
  const Vector centre{1e-3, -1e-3, 14e-3};
  const double radius = 2e-3;
  const Source source(fmt::format("{}spheres = [[0.001, -0.001, 0.014, 0.002, 1.0]]\n", below_a_ball));
  const MadeSurface surface = make_any_surface({"[surface]", "sphere", {{"radius", 0.04}}, {}});
  std::vector<Point> sources;
  for (const Element& element : source.probe.elements) sources.push_back(element.centre);
  RayInterface front{surface.curve, false, false};
  front.spatial = surface.spatial;
  std::vector<std::unique_ptr<RayField>> fields;
  for (const double in_part : {6320.0, 3130.0}) {
    fields.push_back(
        make_ray_field({{MetresPerSecond(1480.0), MetresPerSecond(in_part)}, {front}}, sources, SimdLevel::portable));
  }
  const auto ball = [&](double down, double round) {
    const Vector at = sum(centre, radius, {std::sin(down) * std::cos(round), std::sin(down) * std::sin(round), -std::cos(down)});
    return Point{Metres(at[0]), Metres(at[1]), Metres(at[2])};
  };
  double worst = 0.0;
  for (const auto& elements : {std::pair<std::size_t, std::size_t>{0, 0}, {0, 5}, {1, 3}, {4, 4}}) {
    const std::size_t i = elements.first;
    const std::size_t j = elements.second;
    std::vector<double> expected;
    for (std::size_t a = 0; a < 2; ++a) {
      for (std::size_t b = 0; b < 2; ++b) {
        const auto time = [&](double down, double round) {
          const std::array<Point, 1> at{ball(down, round)};
          std::array<double, 1> out{};
          std::array<double, 1> back{};
          fields[a]->times(i, i + 1, at, out);
          fields[b]->times(j, j + 1, at, back);
          return out[0] + back[0];
        };
        expected.push_back(least_over(time, 0.0, 0.5 * std::numbers::pi, 0.0, 2.0 * std::numbers::pi));
      }
    }
    std::ranges::sort(expected);
    const std::vector<Echo> echoes = source.echoes(i, j);
    ASSERT_EQ(echoes.size(), 4U);
    for (std::size_t k = 0; k < 4; ++k) worst = std::max(worst, std::abs(echoes[k].time - expected[k]));
  }
  std::printf("ball below a ball: off by at most %.1e s\n", worst);
  EXPECT_LE(worst, exact);
}

TEST(Bodies, HolesInSpaceAreThoseOfThePlane) {
  const std::string text =
      "[material]\nlongitudinal_velocity = 6320\nshear_velocity = 3130\n[couplant]\nvelocity = 1480\n[surface]\nkind = "
      "\"cylinder\"\nradius = 0.05\n[probe]\nstand_off = 0.01\n[simulator]\nelements = 4\npitch = 2e-3\ndirectivity = "
      "false\nwall_echoes = "
      "false\nholes = [[0.002, 0.015, 0.001, 0.7]]\n";
  const Source plane(text);
  Source space(text);
  // So far beside the plane that it counts, and changes no time: 10 nm.
  for (Element& element : space.probe.elements) element.centre.y = Metres(1e-8);
  const SimulatorConfiguration& c = space.configuration;
  space.scene = std::make_unique<SceneEchoes>(space.probe, SceneOptions{c.scene, c.material, c.spreading, c.directivity},
                                              c.phantom, std::vector<double>{0.0});
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      const std::vector<Echo> one = plane.echoes(i, j);
      const std::vector<Echo> other = space.echoes(i, j);
      ASSERT_EQ(one.size(), 4U);
      ASSERT_EQ(other.size(), 4U);
      for (std::size_t k = 0; k < 4; ++k) {
        EXPECT_NEAR(other[k].time, one[k].time, exact);
      }
      // Holes of the plane have what waves leave at the nearest of places 5 degrees apart; that of L hardly changes there.
      EXPECT_NEAR(other[0].amplitude, one[0].amplitude, 0.02 * one[0].amplitude);
    }
  }
}

TEST(Bodies, AFlatBottomedHoleIsSeenWhereItIs) {
  const std::string text =
      "[material]\nlongitudinal_velocity = 6320\nshear_velocity = 3130\n[couplant]\nvelocity = 1480\n[surface]\nkind = "
      "\"plane\"\n"
      "angle_across = 4\n[probe]\nstand_off = 0.01\n[simulator]\nelements = 6\nrows = 6\npitch = 0.9e-3\nelement_width = 0.4e-3\n"
      "element_length = 0.4e-3\nmodes = [\"L\"]\nsamples = 1024\nsample_rate = 50e6\nnoise_rms = 0\nquantised = false\nencoding "
      "= "
      "\"float32\"\nwall_echoes = false\ndiscs = [[0.0005, -0.0005, 0.012, 0.0004, 0, 0, 1.0]]\n[grid]\nx = [-0.0005, 0.0015]\ny "
      "= [-0.0015, 0.0005]\nz = [0.011, 0.013]\npixels = [11, 11, 21]\n[imaging]\ndelay_law = \"immersion\"\nbackend = \"cpu\"\n";
  const Configuration configuration = parse_configuration(text, "part.toml");
  const test::ImagedScene imaged = test::image_scene(configuration, test::frame_of(simulator_configuration(configuration)));
  const test::ScenePeak peak = test::peak_of(imaged, 0, 0.0005, 0.012, 1.01e-3);
  std::printf("disc seen at (%.2f, %.2f, %.2f) mm\n", 1e3 * peak.x, 1e3 * peak.y, 1e3 * peak.z);
  EXPECT_NEAR(peak.z, 12e-3, 1.01e-4);  // a pixel: from all over it echoes come at once
  EXPECT_LE(std::hypot(peak.x - 0.5e-3, peak.y + 0.5e-3), 0.5e-3);
}

std::string fault_of(const std::string& text) {
  try {
    static_cast<void>(simulator_configuration(parse_configuration(text, "part.toml")));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Bodies, SayWhatIsWrongWithThem) {
  EXPECT_THAT(fault_of(contact("spheres = [[0, 0, 0.01, 0, 1]]\n")),
              HasSubstr("reflector \"sphere 0\": found radius 0 m; expected a positive radius, up to 10 m"));
  // Before the places of its edge are made.
  EXPECT_THAT(fault_of(contact("discs = [[0, 0, 0.01, 1e3, 0, 0, 1]]\n")),
              HasSubstr("reflector \"disc 0\": found radius 1000 m; expected a positive radius, up to 10 m"));
  EXPECT_THAT(fault_of(contact("cylinders = [[0, 0, 0.01, 0.001, -1, 0, 0, 1]]\n")),
              HasSubstr("reflector \"cylinder 0\": found length -1 m; expected a positive length"));
  EXPECT_THAT(fault_of(contact("plates = [[0, 0, 0.01, 0.001, 0, 0, 0, 1]]\n")),
              HasSubstr("reflector \"plate 0\": found height 0 m; expected a positive height"));
  EXPECT_THAT(fault_of(contact("discs = [[0, 0, 0.01, 0.001, 0, 91, 1]]\n")),
              HasSubstr("reflector \"disc 0\": found turn 0 and dip 91; expected -360 to 360 and -90 to 90 degrees"));
  EXPECT_THAT(fault_of(contact("plates = [[0, 0, 0.004, 0.01, 0.01, 0, 90, 1]]\n")),
              HasSubstr("reflector \"plate 0\": found a top at z = -1.000 mm; expected a reflector inside the part, z > 0"));
  EXPECT_THAT(fault_of(contact("spheres = [[0, 0, 0.01, 0.001, 1]]\nbackwall = 0.03\n")),
              HasSubstr("[simulator] backwall: found"));
  EXPECT_THAT(fault_of(fmt::format("{}spheres = [[0, 0, 0.002, 0.003, 1]]\n", below_a_ball)),
              HasSubstr("reflector \"sphere 0\": found a place at (0, 0, 2) mm, 1 mm above the front surface"));
  EXPECT_THAT(fault_of(contact("plates = [[0, 0, 0.003, 1.0, 1.0, 0, 0, 1]]\n")),
              HasSubstr("[simulator] reflectors: found 1 holes and bodies seen by 9 elements, which need"));
}

}  // namespace
}  // namespace echoform::bodies_test
