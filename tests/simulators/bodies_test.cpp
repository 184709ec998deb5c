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
#include <string_view>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "methods/tfm/simulated_scene.hpp"
#include "rays/ray_field.hpp"
#include "rays/surface_kind.hpp"
#include "settings/reader.hpp"
#include "simulators/scene_echoes.hpp"
#include "tests/simulators/imaged.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::bodies_test {
namespace {

using ::testing::HasSubstr;

constexpr double degree = std::numbers::pi / 180.0;
constexpr double velocity = 6320.0;
/// What a quadratic through three by three places leaves (simulators/body_shape.hpp), of two ways.
constexpr double exact = 6e-10;
/// Normals and places are taken linearly between places 11 degrees apart or less, which turns them by less than a hundredth of
/// it.
constexpr double same_amplitude = 1e-3;
/// What a linear amplitude between places leaves, and that of the next place along an edge.
constexpr double between_places = 1e-2;
constexpr double of_the_next_place = 5e-2;
/// The first where interfaces leave shear waves hardly anything below an element, and more of them with each place beside it.
constexpr double below_an_interface = 3e-2;

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

struct Minimum {
  double value = 0.0;
  double u = 0.0;
  double v = 0.0;
};

/// The minimum of f over a rectangle, and where: of 81 x 81 values, then over the four cells about the lowest one, and so on.
Minimum minimum_over(const Function& f, double u0, double u1, double v0, double v1) {
  Minimum minimum{std::numeric_limits<double>::infinity(), 0.0, 0.0};
  const std::array<double, 4> bounds{u0, u1, v0, v1};
  for (int pass = 0; pass < 6; ++pass) {
    constexpr int cells = 80;
    const double du = (u1 - u0) / cells;
    const double dv = (v1 - v0) / cells;
    for (int i = 0; i <= cells; ++i) {
      for (int j = 0; j <= cells; ++j) {
        const Minimum here{f(u0 + i * du, v0 + j * dv), u0 + i * du, v0 + j * dv};
        if (here.value < minimum.value) minimum = here;
      }
    }
    u0 = std::max(bounds[0], minimum.u - du);
    u1 = std::min(bounds[1], minimum.u + du);
    v0 = std::max(bounds[2], minimum.v - dv);
    v1 = std::min(bounds[3], minimum.v + dv);
  }
  return minimum;
}

/// What a mirror at a place makes of a way over it: the root of the cosine of half the angle between its legs.
double mirrored(const Vector& at, const Vector& from, const Vector& to) {
  const Vector a = sum(from, -1.0, at);
  const Vector b = sum(to, -1.0, at);
  return std::sqrt(std::sqrt(0.5 * (1.0 + dot_of(a, b) / std::sqrt(dot_of(a, a) * dot_of(b, b)))));
}

/// 3 x 3 elements on z = 0, in contact with a part that has one reflector.
std::string contact(const std::string& reflector, std::string_view leaves = "directivity = false\nspreading = \"none\"\n") {
  return fmt::format(
      "[material]\nlongitudinal_velocity = 6320\nshear_velocity = 3130\n[simulator]\nelements = 3\nrows = 3\npitch = 4e-3\n"
      "element_width = 1e-3\nelement_length = 1e-3\n{}{}",
      leaves, reflector);
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
        const auto place = [&](double down, double round) {
          return sum(centre, radius, {std::sin(down) * std::cos(round), std::sin(down) * std::sin(round), -std::cos(down)});
        };
        const auto time = [&](double down, double round) {
          const Vector at = place(down, round);
          return (far(from, at) + far(at, to)) / velocity;
        };
        const Minimum minimum = minimum_over(time, 0.0, 0.5 * std::numbers::pi, 0.0, 2.0 * std::numbers::pi);
        worst = std::max(worst, std::abs(echoes[0].time - minimum.value));
        EXPECT_NEAR(echoes[0].amplitude, 0.5 * mirrored(place(minimum.u, minimum.v), from, to), same_amplitude) << i << ' ' << j;
      }
    }
    std::printf("sphere of %g mm: off by at most %.1e s\n", 1e3 * radius, worst);
    EXPECT_LE(worst, exact);
  }
}

TEST(Bodies, ASphereThatTurnsModesAnswersByTheAngleOfEither) {
  constexpr double depth = 7e-3;
  constexpr double radius = 2.5e-3;
  const Source source(contact(fmt::format("spheres = [[0.0, 0.0, {}, {}, 1.0]]\n", depth, radius),
                              "modes = [\"L\", \"T\"]\ndirectivity = false\nspreading = \"none\"\n"));
  constexpr std::array<double, 2> velocities{6320.0, 3130.0};
  for (const auto& pair : {std::pair<std::size_t, std::size_t>{0, 8}, {8, 0}, {3, 5}, {1, 1}}) {
    const Vector from = source.element(pair.first);
    const Vector to = source.element(pair.second);
    const std::vector<Echo> echoes = source.echoes(pair.first, pair.second);
    ASSERT_EQ(echoes.size(), 4U);
    for (const double out : velocities) {
      for (const double back : velocities) {
        const auto normal = [](double down, double round) {
          return Vector{std::sin(down) * std::cos(round), std::sin(down) * std::sin(round), -std::cos(down)};
        };
        const auto place = [&](double down, double round) { return sum({0.0, 0.0, depth}, radius, normal(down, round)); };
        const auto time = [&](double down, double round) {
          return far(from, place(down, round)) / out + far(place(down, round), to) / back;
        };
        const Minimum minimum = minimum_over(time, 0.0, 0.5 * std::numbers::pi, 0.0, 2.0 * std::numbers::pi);
        const Vector at = place(minimum.u, minimum.v);
        const auto cosine = [&](const Vector& element) {
          return dot_of(sum(element, -1.0, at), normal(minimum.u, minimum.v)) / far(element, at);
        };
        const auto nearest =
            std::ranges::min_element(echoes, {}, [&](const Echo& echo) { return std::abs(echo.time - minimum.value); });
        const std::string what = fmt::format("{} to {}, out at {} m/s and back at {}", pair.first, pair.second, out, back);
        EXPECT_NEAR(nearest->time, minimum.value, 2.0 * exact) << what;
        // Waves that leave at 73 degrees to the normal feel what it is off by more than others do.
        EXPECT_NEAR(nearest->amplitude, std::pow(cosine(from) * cosine(to), 0.25), 2.0 * same_amplitude) << what;
      }
    }
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
      const auto place = [&](double angle, double along) {
        return sum(sum(sum(centre, along, axis), radius * std::sin(angle), across), radius * std::cos(angle), up);
      };
      const auto time = [&](double angle, double along) {
        const Vector at = place(angle, along);
        return (far(from, at) + far(at, to)) / velocity;
      };
      const std::vector<Echo> echoes = source.echoes(i, j);
      ASSERT_EQ(echoes.size(), 1U) << i << ' ' << j;
      const Minimum minimum = minimum_over(time, -1.5, 1.5, -15e-3, 15e-3);
      worst = std::max(worst, std::abs(echoes[0].time - minimum.value));
      EXPECT_NEAR(echoes[0].amplitude, mirrored(place(minimum.u, minimum.v), from, to), same_amplitude) << i << ' ' << j;
    }
  }
  std::printf("cylinder: off by at most %.1e s\n", worst);
  EXPECT_LE(worst, exact);
  // Where no place of it mirrors a way between elements 4 mm apart it is silent: a short one far to the side, its axis towards
  // them.
  const Source beside(contact("cylinders = [[0.03, 0.0, 0.01, 0.0015, 0.001, 90, 0, 1.0]]\n"));
  EXPECT_TRUE(beside.echoes(0, 0).empty());
}

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

/// An echo over a place, of a mirror or of an edge, whose amplitude is that of the ways times `share`.
struct FlatEcho {
  Vector at;
  double share = 0.0;
};

/// What a flat one answers to a pair: of a mirror its reflectivity of 0.8 and the root of the cosine, of an edge a tenth of it.
std::vector<FlatEcho> echoes_of(const Flat& flat, const Vector& from, const Vector& to) {
  constexpr double of_mirror = 0.8;
  constexpr double of_edge = 0.08;
  const double t = flat.turn * degree;
  const double d = flat.dip * degree;
  const Vector level{std::sin(t), std::cos(t), 0.0};
  const Vector down{std::cos(d) * std::cos(t), -std::cos(d) * std::sin(t), std::sin(d)};
  const Vector normal{-std::sin(d) * std::cos(t), std::sin(d) * std::sin(t), std::cos(d)};
  const auto place = [&](double x, double y) { return sum(sum(flat.centre, x, level), y, down); };
  const auto way = [&](const Vector& at) { return far(from, at) + far(at, to); };
  std::vector<FlatEcho> expected;
  const double height_from = dot_of(sum(from, -1.0, flat.centre), normal);
  const double height_to = dot_of(sum(to, -1.0, flat.centre), normal);
  // Of the mirror's plane the place that divides the way as the heights do.
  const Vector image = sum(to, -2.0 * height_to, normal);
  const Vector at = sum(from, height_from / (height_from + height_to), sum(image, -1.0, from));
  const double x = dot_of(sum(at, -1.0, flat.centre), level);
  const double y = dot_of(sum(at, -1.0, flat.centre), down);
  const bool on = flat.disc ? std::hypot(x, y) < flat.x : std::abs(x) < flat.x && std::abs(y) < flat.y;
  if (on && height_from * height_to > 0.0) expected.push_back({at, of_mirror * mirrored(at, from, to)});
  if (flat.disc) {
    const auto rim = [&](double angle) { return place(flat.x * std::cos(angle), flat.x * std::sin(angle)); };
    const Minimum first = minimum_over([&](double a, double) { return way(rim(a)); }, 0.0, 2.0 * std::numbers::pi, 0.0, 1.0);
    const Minimum last = minimum_over([&](double a, double) { return -way(rim(a)); }, 0.0, 2.0 * std::numbers::pi, 0.0, 1.0);
    // From the middle above it none is first, and none or one is by rounding.
    if (-last.value - first.value < 1e-12 * velocity) return {};
    expected.push_back({rim(first.u), of_edge});
    expected.push_back({rim(last.u), of_edge});
    return expected;
  }
  for (const double end : {-1.0, 1.0}) {
    for (const bool along : {true, false}) {
      const double half = along ? flat.x : flat.y;
      const auto side = [&](double u) { return along ? place(u, end * flat.y) : place(end * flat.x, u); };
      const Minimum minimum = minimum_over([&](double u, double) { return way(side(u)); }, -half, half, 0.0, 1.0);
      // Beyond a corner there is no edge.
      if (minimum.value < std::min(way(side(-half)), way(side(half))) - 1e-12 * velocity)
        expected.push_back({side(minimum.u), of_edge});
    }
  }
  return expected;
}

/// Whether one of `found` has such a time and, to the tolerance, such an amplitude.
bool has(const std::vector<Echo>& found, const Echo& wanted, double tolerance) {
  return std::ranges::any_of(found, [&](const Echo& echo) {
    return std::abs(echo.time - wanted.time) <= exact && std::abs(echo.amplitude / wanted.amplitude - 1.0) <= tolerance;
  });
}

TEST(Bodies, FlatOnesAnswerAsMirrorsAndFromTheirEdges) {
  std::size_t mirrors = 0;
  std::size_t all = 0;
  for (const Flat& flat : flats) {
    const Source source(contact(flat.key));
    for (std::size_t i = 0; i < 9; ++i) {
      for (std::size_t j = 0; j < 9; ++j) {
        const Vector from = source.element(i);
        const Vector to = source.element(j);
        const std::vector<FlatEcho> expected = echoes_of(flat, from, to);
        if (flat.disc && expected.empty()) continue;
        const std::vector<Echo> echoes = source.echoes(i, j);
        ASSERT_EQ(echoes.size(), expected.size()) << flat.key << i << ' ' << j;
        for (const FlatEcho& one : expected) {
          const double time = (far(from, one.at) + far(one.at, to)) / velocity;
          EXPECT_TRUE(has(echoes, {time, one.share}, same_amplitude))
              << flat.key << i << ' ' << j << ": none of " << one.share << " at " << time;
          mirrors += one.share > 0.1 ? 1 : 0;
        }
        all += expected.size();
      }
    }
  }
  std::printf("flat: %zu mirrored, %zu in all\n", mirrors, all);
  EXPECT_GT(mirrors, 60U);
  EXPECT_GT(all, 2 * mirrors);
}

/// What a way between an element and a place leaves: a rectangle's directivity, and 10 mm over its length.
double left_of(const Source& source, std::size_t element, const Vector& at) {
  const Vector way = sum(at, -1.0, source.element(element));
  const double length = std::sqrt(dot_of(way, way));
  const double wavelength = velocity / source.probe.centre_frequency.value;
  const auto sinc = [&](double component) {
    const double x = std::numbers::pi * 1e-3 / wavelength * component / length;  // of 1 mm
    return std::abs(x) < 1e-9 ? 1.0 : std::sin(x) / x;
  };
  return sinc(way[0]) * sinc(way[1]) * way[2] / length * 10e-3 / length;
}

TEST(Bodies, WhatElementsSendAndWaysLeaveIsThatOfThePlaceThatAnswers) {
  const char* const leaves = "directivity = true\nspreading = \"spherical\"\n";
  double worst_face = 0.0;
  double worst_edge = 0.0;
  const auto compare = [&](const Source& source, const Vector& at, std::size_t i, std::size_t j, double share, double& worst) {
    const double wanted = share * left_of(source, i, at) * left_of(source, j, at);
    const double time = (far(source.element(i), at) + far(at, source.element(j))) / velocity;
    double off = std::numeric_limits<double>::infinity();
    for (const Echo& echo : source.echoes(i, j)) {
      if (std::abs(echo.time - time) <= exact) off = std::min(off, std::abs(echo.amplitude / wanted - 1.0));
    }
    worst = std::max(worst, off);
  };
  const Vector centre{-6e-3, 3e-3, 14e-3};
  constexpr double radius = 6e-3;
  const Source ball(contact("spheres = [[-0.006, 0.003, 0.014, 0.006, 0.5]]\n", leaves));
  for (const auto& pair : {std::pair<std::size_t, std::size_t>{0, 0}, {0, 8}, {2, 3}, {8, 1}, {5, 5}}) {
    const auto place = [&](double down, double round) {
      return sum(centre, radius, {std::sin(down) * std::cos(round), std::sin(down) * std::sin(round), -std::cos(down)});
    };
    const Vector from = ball.element(pair.first);
    const Vector to = ball.element(pair.second);
    const auto way = [&](double down, double round) { return far(from, place(down, round)) + far(place(down, round), to); };
    const Minimum minimum = minimum_over(way, 0.0, 0.5 * std::numbers::pi, 0.0, 2.0 * std::numbers::pi);
    const Vector at = place(minimum.u, minimum.v);
    compare(ball, at, pair.first, pair.second, 0.5 * mirrored(at, from, to), worst_face);
  }
  for (const Flat& flat : flats) {
    const Source source(contact(flat.key, leaves));
    for (std::size_t i = 0; i < 9; i += 2) {
      for (std::size_t j = 0; j < 9; ++j) {
        for (const FlatEcho& one : echoes_of(flat, source.element(i), source.element(j))) {
          compare(source, one.at, i, j, one.share, one.share > 0.1 ? worst_face : worst_edge);
        }
      }
    }
  }
  std::printf("amplitudes: faces off by at most %.1e, edges by %.1e\n", worst_face, worst_edge);
  EXPECT_LE(worst_face, between_places);
  EXPECT_LE(worst_edge, of_the_next_place);
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
  constexpr std::array<double, 2> in_part{6320.0, 3130.0};
  for (const double mode : in_part) {
    fields.push_back(make_ray_field({{MetresPerSecond(1480.0), MetresPerSecond(mode)}, {front}}, sources, SimdLevel::portable));
  }
  const auto ball = [&](double down, double round, double out) {
    const Vector at = sum(centre, out, {std::sin(down) * std::cos(round), std::sin(down) * std::sin(round), -std::cos(down)});
    return Point{Metres(at[0]), Metres(at[1]), Metres(at[2])};
  };
  double worst = 0.0;
  for (const auto& elements : {std::pair<std::size_t, std::size_t>{0, 0}, {0, 5}, {1, 3}, {4, 4}}) {
    const std::size_t i = elements.first;
    const std::size_t j = elements.second;
    std::vector<Echo> expected;
    for (std::size_t a = 0; a < 2; ++a) {
      for (std::size_t b = 0; b < 2; ++b) {
        const auto leg = [&](std::size_t mode, std::size_t element, const Point& to) {
          const std::array<Point, 1> at{to};
          std::array<double, 1> found{};
          fields[mode]->times(element, element + 1, at, found);
          return found[0];
        };
        const auto time = [&](double down, double round) {
          return leg(a, i, ball(down, round, radius)) + leg(b, j, ball(down, round, radius));
        };
        const Minimum minimum = minimum_over(time, 0.0, 0.5 * std::numbers::pi, 0.0, 2.0 * std::numbers::pi);
        // A ray's angle to the normal by what its time gains along that; what either way leaves by a point that scatters there.
        const auto cosine = [&](std::size_t mode, std::size_t element) {
          constexpr double step = 1e-5;
          const double gain = leg(mode, element, ball(minimum.u, minimum.v, radius - step)) -
                              leg(mode, element, ball(minimum.u, minimum.v, radius + step));
          return in_part[mode] * gain / (2.0 * step);
        };
        const Point at = ball(minimum.u, minimum.v, radius);
        const Source point(fmt::format("{}points = [[{}, {}, {}, 1.0]]\n", below_a_ball, at.x.value, at.y.value, at.z.value));
        const std::vector<Echo> of_point = point.echoes(i, j);
        const auto nearest =
            std::ranges::min_element(of_point, {}, [&](const Echo& echo) { return std::abs(echo.time - minimum.value); });
        ASSERT_NE(nearest, of_point.end());
        expected.push_back({minimum.value, std::pow(cosine(a, i) * cosine(b, j), 0.25) * nearest->amplitude});
      }
    }
    std::ranges::sort(expected, {}, &Echo::time);
    const std::vector<Echo> echoes = source.echoes(i, j);
    ASSERT_EQ(echoes.size(), 4U);
    for (std::size_t k = 0; k < 4; ++k) {
      worst = std::max(worst, std::abs(echoes[k].time - expected[k].time));
      EXPECT_NEAR(echoes[k].amplitude / expected[k].amplitude, 1.0, below_an_interface) << i << ' ' << j << ", echo " << k;
    }
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
  return test::input_error([&] { static_cast<void>(simulator_configuration(parse_configuration(text, "part.toml"))); });
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
