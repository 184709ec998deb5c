// Rays through parts of triangles, against the least times over all triangles one by one, and STL files of every fault.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "rays/mesh_field.hpp"
#include "rays/stl_file.hpp"
#include "rays/surface_kind.hpp"
#include "tests/rays/spatial_force.hpp"
#include "tests/support/input_error.hpp"

// A namespace of its own: other files of this program have surfaces and velocities too.
namespace echoform::mesh_rays {
namespace {

using brute::apart;
using brute::inner;
using brute::Spot;

constexpr double water = 1480.0;
constexpr double steel = 5900.0;
/// Places are stationary to 1e-15 of the way; the reference halves steps down to 1e-13 of a triangle.
constexpr double solved = 2e-12;

using Triangle = std::array<Vector3, 3>;
using Triangles = std::vector<Triangle>;

Spot spot(Vector3 at) {
  return {at.x, at.y, at.z};
}
Spot crossed(const Spot& a, const Spot& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/// Rings of triangles between both poles of a ball, z downwards, counter-clockwise as seen from outside.
Triangles ball(double radius, Vector3 centre, int rings, int sectors) {
  const auto at = [&](int ring, int sector) {
    const double polar = std::numbers::pi * ring / rings;
    const double turn = 2.0 * std::numbers::pi * (sector % sectors) / sectors;
    const double out = ring == 0 || ring == rings ? 0.0 : std::sin(polar);
    return Vector3{centre.x + radius * out * std::cos(turn), centre.y + radius * out * std::sin(turn),
                   centre.z - radius * std::cos(polar)};
  };
  Triangles all;
  for (int ring = 0; ring < rings; ++ring) {
    for (int sector = 0; sector < sectors; ++sector) {
      if (ring > 0) all.push_back({at(ring, sector), at(ring, sector + 1), at(ring + 1, sector)});
      if (ring + 1 < rings) all.push_back({at(ring, sector + 1), at(ring + 1, sector + 1), at(ring + 1, sector)});
    }
  }
  return all;
}

/// A polygon of x and z, counter-clockwise where z points down on the page, drawn out from y = -half to half.
Triangles prism(const std::vector<std::pair<double, double>>& outline, const std::vector<std::array<std::size_t, 3>>& caps,
                double half) {
  const auto at = [&](std::size_t k, double y) {
    return Vector3{outline[k % outline.size()].first, y, outline[k % outline.size()].second};
  };
  Triangles all;
  for (std::size_t k = 0; k < outline.size(); ++k) {
    all.push_back({at(k, -half), at(k + 1, -half), at(k, half)});
    all.push_back({at(k + 1, -half), at(k + 1, half), at(k, half)});
  }
  for (const auto& [a, b, c] : caps) {
    all.push_back({at(a, -half), at(c, -half), at(b, -half)});
    all.push_back({at(a, half), at(b, half), at(c, half)});
  }
  return all;
}

/// Two levels, 10 mm apart, of a part that is 40 mm long: the lower one lies in the shadow of the step.
Triangles stepped() {
  return prism({{-0.02, 0.0}, {-0.02, 0.03}, {0.02, 0.03}, {0.02, 0.01}, {0.0, 0.01}, {0.0, 0.0}},
               {{0, 1, 4}, {0, 4, 5}, {1, 2, 4}, {2, 3, 4}}, 0.02);
}

struct OverTriangle {
  double time = 0.0;
  std::array<double, 3> weights{};
  Spot at;
};

/// Least over a triangle, where the time is convex: by ever finer lattices around the best place so far.
OverTriangle least_over(const Triangle& triangle, const Spot& from, const Spot& to, double c1, double c2) {
  OverTriangle best;
  const auto look = [&](double a, double b) {
    if (a < 0.0 || b < 0.0 || a + b > 1.0) return;
    const Vector3 at = (1.0 - a - b) * triangle[0] + a * triangle[1] + b * triangle[2];
    const double time = apart(from, spot(at)) / c1 + apart(spot(at), to) / c2;
    if (best.time == 0.0 || time < best.time) best = {time, {1.0 - a - b, a, b}, spot(at)};
  };
  for (int i = 0; i <= 8; ++i) {
    for (int j = 0; j + i <= 8; ++j) look(i / 8.0, j / 8.0);
  }
  for (double step = 1.0 / 16.0; step > 1e-13; step *= 0.5) {
    double before = 0.0;
    for (int again = 0; again < 30 && before != best.time; ++again) {
      before = best.time;
      const auto centre = best.weights;
      // Edges lie along one, the other, and both against each other.
      for (int i = -1; i <= 1; ++i) {
        for (int j = -1; j <= 1; ++j) look(centre[1] + i * step, centre[2] + j * step);
      }
    }
  }
  return best;
}

/// Whether the straight way meets a triangle further than 1e-7 m from both ends.
bool obstructed(const Triangles& all, const Spot& from, const Spot& to) {
  for (const Triangle& triangle : all) {
    const Spot a = spot(triangle[0]), b = spot(triangle[1]), c = spot(triangle[2]);
    const Spot normal = crossed(b - a, c - a);
    const double before = inner(from - a, normal), after = inner(to - a, normal);
    if ((before > 0.0) == (after > 0.0)) continue;
    const double t = before / (before - after);
    if (t * apart(from, to) < 1e-7 || (1.0 - t) * apart(from, to) < 1e-7) continue;
    const Spot at{from.x + t * (to.x - from.x), from.y + t * (to.y - from.y), from.z + t * (to.z - from.z)};
    if (inner(crossed(b - a, at - a), normal) >= 0.0 && inner(crossed(c - b, at - b), normal) >= 0.0 &&
        inner(crossed(a - c, at - c), normal) >= 0.0)
      return true;
  }
  return false;
}

RayPath through(std::shared_ptr<const SpatialSurface> part) {
  RayPath path{{MetresPerSecond(water), MetresPerSecond(steel)}, {}};
  path.interfaces.push_back({nullptr, false, false, std::move(part)});
  return path;
}

struct Random {
  std::mt19937 engine{5};
  double operator()(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine); }
};

class StlPart : public testing::Test {
 protected:
  StlPart() : folder_(std::filesystem::temp_directory_path() / ("echoform_stl_" + std::to_string(std::random_device{}()))) {
    std::filesystem::create_directories(folder_);
  }
  ~StlPart() override { std::filesystem::remove_all(folder_); }

  static std::string binary(const Triangles& all, double unit = 1e-3) {
    std::string bytes(80, ' ');
    const auto add = [&](std::uint32_t value, int count) {
      for (int k = 0; k < count; ++k) bytes.push_back(static_cast<char>((value >> (8 * k)) & 0xFFU));
    };
    add(static_cast<std::uint32_t>(all.size()), 4);
    for (const Triangle& triangle : all) {
      for (int k = 0; k < 3; ++k) add(0, 4);
      for (const Vector3& at : triangle) {
        for (const double number : {at.x, at.y, at.z}) add(std::bit_cast<std::uint32_t>(static_cast<float>(number / unit)), 4);
      }
      add(0, 2);
    }
    return bytes;
  }

  static std::string ascii(const Triangles& all, double unit = 1e-3) {
    std::string text = "solid of a test\n";
    for (const Triangle& triangle : all) {
      text += "  facet normal 0 0 0\n    outer loop\n";
      for (const Vector3& at : triangle) {
        text += "      vertex";
        for (const double number : {at.x, at.y, at.z}) {
          // What the binary file holds.
          std::array<char, 64> digits{};
          std::snprintf(digits.data(), digits.size(), " %.9e", static_cast<double>(static_cast<float>(number / unit)));
          text += digits.data();
        }
        text += "\n";
      }
      text += "    endloop\n  endfacet\n";
    }
    return text + "endsolid of a test\n";
  }

  std::shared_ptr<const SpatialSurface> part_of(const std::string& bytes,
                                                std::map<std::string, double, std::less<>> numbers = {}) {
    const std::string path = (folder_ / "part.stl").string();
    std::ofstream(path, std::ios::binary) << bytes;
    return make_any_surface({"[surface]", "stl", std::move(numbers), {{"file", path}}}).spatial;
  }

  /// What is refused, less the folder's name.
  std::string fault_of(const std::string& bytes) {
    std::string line = test::input_error([&] { static_cast<void>(part_of(bytes)); });
    const std::string path = folder_.string() + "/";
    for (auto at = line.find(path); at != std::string::npos; at = line.find(path)) line.erase(at, path.size());
    return line;
  }

  /// Rounded to the numbers of the file.
  static Triangles as_read(const Triangles& all) { return parse_stl(binary(all), "test", 1e-3); }

  std::filesystem::path folder_;
};

TEST_F(StlPart, ABallsRaysAreTheLeastOverAllItsTriangles) {
  const Vector3 centre{1e-3, -2e-3, 20e-3};
  const Triangles written = ball(19e-3, centre, 20, 32);
  const Triangles triangles = as_read(written);
  for (const std::string& bytes : {binary(written), ascii(written)}) {
    const auto part = part_of(bytes);
    Random random;
    const std::vector<Point> sources{point_of({-4e-3, 3e-3, -12e-3}), point_of({9e-3, -8e-3, -6e-3})};
    const auto field = make_ray_field(through(part), sources);
    EXPECT_EQ(field->name(), "mesh");
    std::vector<Point> points;
    while (points.size() < 40) {
      const Vector3 at = centre + Vector3{random(-19e-3, 19e-3), random(-19e-3, 19e-3), random(-19e-3, 19e-3)};
      if (part->signed_distance(at) > 1e-6) points.push_back(point_of(at));
    }
    std::vector<double> seconds(sources.size() * points.size());
    field->times(0, sources.size(), points, seconds);
    for (std::size_t source = 0; source < sources.size(); ++source) {
      for (std::size_t k = 0; k < points.size(); ++k) {
        const Spot from = spot(vector_of(sources[source])), to = spot(vector_of(points[k]));
        // In a convex part and a slow couplant the least time of all is that of a ray that enters where it first can. A triangle
        // whose corners all lie more than a side further away than that has nothing.
        double least = std::numeric_limits<double>::infinity();
        double nearest = least;
        for (const Triangle& triangle : triangles)
          nearest = std::min(nearest, apart(from, spot(triangle[0])) / water + apart(spot(triangle[0]), to) / steel);
        for (const Triangle& triangle : triangles) {
          const double here = apart(from, spot(triangle[0])) / water + apart(spot(triangle[0]), to) / steel;
          const double side = std::max(apart(spot(triangle[0]), spot(triangle[1])), apart(spot(triangle[0]), spot(triangle[2])));
          if (here - side * (1.0 / water + 1.0 / steel) > nearest) continue;
          least = std::min(least, least_over(triangle, from, to, water, steel).time);
        }
        ASSERT_NEAR(seconds[source * points.size() + k], least, solved) << source << ", " << k;
      }
    }
  }
}

TEST_F(StlPart, AStepHasTheRaysThatNoTriangleObstructs) {
  const auto part = part_of(binary(stepped()));
  const Triangles triangles = as_read(stepped());
  const Point source = point_of({-12e-3, 2e-3, -1e-3});
  RaySolver solver(through(part), source);
  Random random;
  std::size_t reached = 0, dark = 0;
  for (int k = 0; k < 300; ++k) {
    const Vector3 at{random(-20e-3, 20e-3), random(-15e-3, 15e-3), random(0.5e-3, 29e-3)};
    if (part->signed_distance(at) < 1e-6) continue;
    const Spot from = spot(vector_of(source)), to = spot(at);
    double least = std::numeric_limits<double>::infinity();
    bool unsure = false;
    for (const Triangle& triangle : triangles) {
      const Spot a = spot(triangle[0]);
      const Spot out = crossed(spot(triangle[1]) - a, spot(triangle[2]) - a);
      if (inner(from - a, out) < 0.0 || inner(to - a, out) > 0.0) continue;
      const OverTriangle local = least_over(triangle, from, to, water, steel);
      // Least on an edge it is no ray: these edges are sharp, or within a face, whose other triangle then has it.
      const double within = *std::min_element(local.weights.begin(), local.weights.end());
      unsure = unsure || (within > 0.0 && within < 1e-4);
      if (within < 1e-4 || obstructed(triangles, from, local.at) || obstructed(triangles, local.at, to)) continue;
      least = std::min(least, local.time);
    }
    if (unsure) continue;
    const double found = solver.time_to(point_of(at));
    if (least < std::numeric_limits<double>::infinity()) {
      ASSERT_NEAR(found, least, solved) << at.x << ", " << at.y << ", " << at.z;
      ++reached;
    } else {
      ASSERT_TRUE(std::isnan(found)) << at.x << ", " << at.y << ", " << at.z << ": " << found;
      ++dark;
    }
  }
  EXPECT_GT(reached, 50U);
  EXPECT_GT(dark, 20U);
}

TEST_F(StlPart, DistancesAreThoseToTheNearestTriangle) {
  const auto part = part_of(binary(stepped()));
  // Above the upper level, beside the step at its foot and its crest, and in the part below both.
  EXPECT_NEAR(part->signed_distance({-5e-3, 0.0, -3e-3}), -3e-3, 1e-9);
  EXPECT_NEAR(part->signed_distance({2e-3, 0.0, 9e-3}), -1e-3, 1e-9);
  EXPECT_NEAR(part->signed_distance({3e-3, 0.0, -4e-3}), -5e-3, 1e-9);
  EXPECT_NEAR(part->signed_distance({-3e-3, 0.0, 14e-3}), 5e-3, 1e-9);
  EXPECT_NEAR(part->signed_distance({10e-3, 0.0, 12e-3}), 2e-3, 1e-9);
  EXPECT_NEAR(part->signed_distance({23e-3, 0.0, 34e-3}), -5e-3, 1e-9);
}

TEST_F(StlPart, TurnedInsideOutItIsTheSamePart) {
  Triangles inside_out = stepped();
  for (Triangle& triangle : inside_out) std::swap(triangle[1], triangle[2]);
  const auto part = part_of(binary(inside_out));
  EXPECT_NEAR(part->signed_distance({10e-3, 0.0, 12e-3}), 2e-3, 1e-9);
}

TEST_F(StlPart, IsScaledAndShifted) {
  const auto part = part_of(binary(stepped(), 25.4e-3), {{"scale", 25.4e-3}, {"x", 1e-3}, {"y", 2e-3}, {"z", 3e-3}});
  EXPECT_NEAR(part->signed_distance({11e-3, 2e-3, 15e-3}), 2e-3, 1e-8);
}

TEST_F(StlPart, WhatIsWrongIsSaidInOneLine) {
  const Triangles whole = stepped();
  Triangles open = whole;
  open.pop_back();
  EXPECT_EQ(
      fault_of(binary(open)),
      "[surface] part.stl: found a surface that is not closed: 3 edges of one triangle alone, the first from (20, 20, 10) to "
      "(20, 20, 30) mm; expected a closed surface, two triangles at every edge");
  Triangles twisted = whole;
  std::swap(twisted[0][1], twisted[0][2]);
  EXPECT_EQ(fault_of(binary(twisted)),
            "[surface] part.stl: found two triangles on one side of the edge from (-20, 20, 0) to (-20, -20, 30) mm; expected "
            "triangles that are turned alike, two at every edge");
  Triangles endless = whole;
  endless[3][1].y = std::numeric_limits<double>::infinity();
  EXPECT_EQ(fault_of(binary(endless)), "part.stl, triangle 3: found a number that is not finite; expected finite coordinates");
  EXPECT_EQ(fault_of(binary(whole).substr(0, 500)),
            "part.stl: found 500 bytes for 20 triangles; expected 1084: a whole binary STL file");
  EXPECT_EQ(fault_of("nothing"), "part.stl: found 7 bytes; expected an STL file, binary or ASCII");
  EXPECT_EQ(fault_of(""), "part.stl: found 0 bytes; expected an STL file, binary or ASCII");
  std::string many = binary(whole);
  many[82] = '\x10';  // 2^20 more
  EXPECT_EQ(fault_of(many), "part.stl: found 1048596 triangles or more; expected 500000 at most");
  EXPECT_EQ(fault_of(binary({})), "[surface] part.stl: found 0 triangles; expected a closed surface, which takes at least 4");
  Triangles flat = ball(1e-3, {}, 2, 4);
  for (Triangle& triangle : flat) {
    for (Vector3& at : triangle) at.y = at.z = 0.0;
  }
  EXPECT_THAT(fault_of(binary(flat)), testing::StartsWith("[surface] part.stl: found "));
  const std::string text = ascii(whole);
  EXPECT_EQ(fault_of(text.substr(0, 400)), "part.stl, triangle 1: found the end of the file; expected a number");
  std::string worded = text;
  worded.replace(worded.find("vertex") + 7, 1, "x");
  EXPECT_EQ(fault_of(worded).substr(0, 31), "part.stl, triangle 0: found \"x2");
  std::string infinite = text;
  infinite.replace(infinite.find("vertex") + 6, 16, " inf ");
  EXPECT_EQ(fault_of(infinite), "part.stl, triangle 0: found a number that is not finite; expected finite coordinates");
}

TEST_F(StlPart, AFileThatIsNotThereIsSaidSo) {
  EXPECT_EQ(test::input_error([&] {
              static_cast<void>(make_any_surface({"[surface]", "stl", {}, {{"file", "/nowhere/part.stl"}}}));
            }),
            "[surface] file: found /nowhere/part.stl, which does not exist; expected an STL file, binary or ASCII");
  EXPECT_EQ(test::input_error([&] {
              static_cast<void>(make_any_surface({"[surface]", "stl", {}, {}}));
            }),
            "[surface] file: found no value; expected an STL file, which kind = \"stl\" needs");
}

}  // namespace
}  // namespace echoform::mesh_rays
