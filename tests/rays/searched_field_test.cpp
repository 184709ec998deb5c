// Ways that are searched for by bricks of a lattice against those that are searched for point by point.
#include "rays/searched_field.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "rays/point_lattice.hpp"
#include "rays/ray_field.hpp"
#include "rays/surface_kind.hpp"

namespace echoform::searched_field_test {
namespace {

constexpr MetresPerSecond water(1480.0);
constexpr MetresPerSecond longitudinal(6320.0);
constexpr MetresPerSecond shear(3130.0);

RayInterface interface_of(const SurfaceDescription& description, bool reflects, bool from_below = false) {
  const MadeSurface made = make_any_surface(description);
  return {made.curve, reflects, from_below, made.spatial};
}

std::string turned_file(const std::string& name, const std::string& lines) {
  const std::string file = testing::TempDir() + "echoform_searched_" + name + "_" + std::to_string(getpid()) + ".csv";
  std::ofstream(file) << lines;
  return file;
}

std::vector<Point> volume(Vector3 low, Vector3 high, const rays::PointLattice::Place& counts) {
  std::vector<Point> points;
  const auto along = [](double first, double last, std::size_t k, std::size_t count) {
    return Metres(first + (last - first) * static_cast<double>(k) / static_cast<double>(count - 1));
  };
  for (std::size_t k = 0; k < counts[2]; ++k) {
    for (std::size_t j = 0; j < counts[1]; ++j) {
      for (std::size_t i = 0; i < counts[0]; ++i) {
        points.push_back(
            {along(low.x, high.x, i, counts[0]), along(low.y, high.y, j, counts[1]), along(low.z, high.z, k, counts[2])});
      }
    }
  }
  return points;
}

/// The same rays, one by one: places among which there is no lattice.
std::vector<double> one_by_one(const RayField& field, std::vector<Point> points, std::size_t sources) {
  const std::size_t count = points.size();
  std::mt19937 random(5);
  std::uniform_real_distribution<double> part(0.0, 1.0);
  const Point low = points.front(), high = points.back();
  for (int k = 0; k < 200; ++k) {
    points.push_back({low.x + part(random) * (high.x - low.x), low.y + part(random) * (high.y - low.y),
                      low.z + part(random) * (high.z - low.z)});
  }
  EXPECT_FALSE(rays::PointLattice::of(points));
  std::vector<double> seconds(sources * points.size());
  field.times(0, sources, points, seconds);
  std::vector<double> found;
  for (std::size_t source = 0; source < sources; ++source) {
    const auto row = seconds.begin() + static_cast<std::ptrdiff_t>(source * points.size());
    found.insert(found.end(), row, row + static_cast<std::ptrdiff_t>(count));
  }
  return found;
}

struct Case {
  std::string name;
  RayPath path;
  std::vector<Point> sources;
  std::vector<Point> points;
  std::size_t least_rays;
  std::size_t least_dark = 0;
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

const SurfaceDescription flat{"[surface]", "plane", {}, {}};

std::vector<Case> cases() {
  const std::vector<Point> contact{{Metres(-4e-3), Metres(0.0), Metres(0.0)}, {Metres(5e-3), Metres(3e-3), Metres(0.0)}};
  const std::vector<Point> wet{{Metres(-4e-3), Metres(1e-3), Metres(-12e-3)}};
  const std::vector<Point> block = volume({-10e-3, -8e-3, 2e-3}, {11e-3, 9e-3, 21e-3}, {17, 12, 16});
  const std::vector<Point> coarse = volume({-10e-3, -8e-3, 2e-3}, {11e-3, 9e-3, 21e-3}, {11, 8, 10});
  const auto cylinder = [](double radius, double z, double turn, double dip, const char* side) {
    return SurfaceDescription{"[backwall]",
                              "cylinder",
                              {{"radius", radius}, {"x", 1e-3}, {"y", 2e-3}, {"z", z}, {"turn", turn}, {"dip", dip}},
                              {{"side", side}}};
  };
  const auto sphere = [](double radius, double z, const char* side) {
    return SurfaceDescription{"[surface]", "sphere", {{"radius", radius}, {"x", 1e-3}, {"y", 1e-3}, {"z", z}}, {{"side", side}}};
  };
  const auto turned = [](const std::string& name, const std::string& lines, double z, const char* side) {
    return SurfaceDescription{"[backwall]",
                              "revolved",
                              {{"x", 1e-3}, {"y", 2e-3}, {"z", z}, {"turn", 25.0}, {"dip", 3.0}},
                              {{"file", turned_file(name, lines)}, {"side", side}}};
  };
  std::vector<Case> all;
  all.push_back({"rod_cavity",
                 {{longitudinal, shear}, {interface_of(cylinder(9e-3, 22e-3, 35.0, 6.0, "outside"), true)}},
                 contact,
                 block,
                 5000});
  // Fine enough that most bricks are of one branch.
  all.push_back({"fine_below_a_ball",
                 {{water, longitudinal, shear},
                  {interface_of(sphere(40e-3, 0.0, "outside"), false),
                   interface_of({"[backwall]", "plane", {{"z", 24e-3}, {"angle", -3.0}, {"angle_across", 4.0}}, {}}, true)}},
                 wet,
                 volume({-4e-3, -3e-3, 4e-3}, {5e-3, 4e-3, 12e-3}, {25, 14, 23}),
                 7000});
  // Up from the cavity to the front, and down again, where the cavity is in the way.
  all.push_back({"behind_a_cavity",
                 {{longitudinal, longitudinal, longitudinal},
                  {interface_of(sphere(5e-3, 12e-3, "outside"), true), interface_of(flat, true, true)}},
                 {contact[0]},
                 volume({-14e-3, -8e-3, 2e-3}, {15e-3, 9e-3, 29e-3}, {13, 9, 12}),
                 300,
                 50});
  // Nearer than twice its radius to a hollow several rays reach a point.
  all.push_back({"far_wall_of_a_hollow",
                 {{longitudinal, longitudinal}, {interface_of(cylinder(16e-3, 24e-3, -20.0, 0.0, "inside"), true)}},
                 contact,
                 coarse,
                 500});
  all.push_back(
      {"hollow_sphere", {{shear, longitudinal}, {interface_of(sphere(18e-3, 24e-3, "inside"), true)}}, contact, block, 3000});
  all.push_back({"ball_over_tilted",
                 {{water, longitudinal, shear},
                  {interface_of(sphere(40e-3, 0.0, "outside"), false),
                   interface_of({"[backwall]", "plane", {{"z", 24e-3}, {"angle", -3.0}, {"angle_across", 4.0}}, {}}, true)}},
                 wet,
                 block,
                 2000});
  all.push_back({"cone",
                 {{longitudinal, shear}, {interface_of(turned("cone", "-0.03,0.008\n0.03,0.014\n", 34e-3, "outside"), true)}},
                 {contact[0]},
                 block,
                 1500});
  // A torus: an arc of 30 mm about an axis 38 mm away from its middle.
  all.push_back(
      {"torus",
       {{longitudinal, longitudinal}, {interface_of(turned("torus", "-0.02,0.012\n0.02,0.012,-0.03\n", 32e-3, "outside"), true)}},
       {contact[0]},
       coarse,
       150});
  return all;
}

class Searched : public testing::TestWithParam<Case> {};

TEST_P(Searched, ByBricksIsTheSameAsOneByOne) {
  const Case& test = GetParam();
  const auto field = make_ray_field(test.path, test.sources);
  ASSERT_EQ(field->name(), "searched");
  ASSERT_TRUE(rays::PointLattice::of(test.points));
  std::vector<double> seconds(test.sources.size() * test.points.size());
  field->times(0, test.sources.size(), test.points, seconds);
  const std::vector<double> expected = one_by_one(*field, test.points, test.sources.size());
  std::vector<Vector3> places(seconds.size());
  ASSERT_TRUE(field->first_places(0, test.sources.size(), test.points, places));
  std::size_t rays = 0, dark = 0;
  for (std::size_t k = 0; k < seconds.size(); ++k) {
    ASSERT_EQ(std::isnan(seconds[k]), std::isnan(expected[k])) << k << ": " << seconds[k] << ", " << expected[k];
    ASSERT_EQ(std::isnan(seconds[k]), std::isnan(places[k].x)) << k;
    if (std::isnan(seconds[k])) {
      ++dark;
      continue;
    }
    ++rays;
    ASSERT_NEAR(seconds[k], expected[k], 1e-15) << k;
  }
  EXPECT_GE(rays, test.least_rays);
  EXPECT_GE(dark, test.least_dark);
}

INSTANTIATE_TEST_SUITE_P(All, Searched, testing::ValuesIn(cases()), [](const auto& found) { return found.param.name; });

TEST(PointLattice, HoldsWhatThereIs) {
  std::vector<Point> points = volume({0.0, 0.0, 0.0}, {4.0, 2.0, 1.0}, {5, 3, 2});
  points.erase(points.begin() + 7);
  const auto lattice = rays::PointLattice::of(points);
  ASSERT_TRUE(lattice);
  EXPECT_EQ(lattice->counts(), (rays::PointLattice::Place{5, 3, 2}));
  EXPECT_EQ(lattice->at({1, 1, 0}), 6U);
  EXPECT_EQ(lattice->at({2, 1, 0}), rays::PointLattice::none);
  EXPECT_EQ(lattice->at({3, 1, 0}), 7U);
  EXPECT_EQ(lattice->at({4, 2, 1}), 28U);
}

TEST(PointLattice, BricksHoldAllPlaces) {
  const rays::PointLattice::Place counts{17, 1, 12};
  std::vector<int> held(17 * 12);
  for (const rays::LatticeBrick& brick : rays::bricks_of(counts, 8)) {
    std::vector<rays::LatticeBrick> open{brick};
    while (!open.empty()) {
      const rays::LatticeBrick part = open.back();
      open.pop_back();
      if (!part.smallest()) {
        for (const rays::LatticeBrick& half : part.split()) open.push_back(half);
        continue;
      }
      for (unsigned which = 0; which < 8; ++which) ++held[part.corner(which)[0] + 17 * part.corner(which)[2]];
    }
  }
  for (const int times : held) EXPECT_GT(times, 0);
}

}  // namespace
}  // namespace echoform::searched_field_test
