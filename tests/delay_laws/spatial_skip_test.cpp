// Legs that skip off surfaces in three dimensions, and below them, against least times by brute force: surfaces as functions of
// two parameters, least times over a lattice on each, chained, and narrowed down by trying all combinations of steps to either
// side.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <numbers>
#include <random>
#include <span>
#include <stop_token>
#include <string>
#include <tuple>
#include <vector>

#include "base/errors.hpp"
#include "base/planning.hpp"
#include "delay_laws/delay_law.hpp"
#include "delay_laws/ray_leg.hpp"
#include "rays/ray_field.hpp"
#include "rays/surface_kind.hpp"
#include "tests/rays/spatial_force.hpp"
#include "tests/support/input_error.hpp"

// A namespace of its own: other files of this program have surfaces and velocities too.
namespace echoform::spatial_skip {
namespace {

using brute::apart;
using brute::inner;
using brute::Patch;
using brute::Skin;
using brute::Spot;

constexpr double water = 1480.0;
constexpr double longitudinal = 6320.0;
constexpr double shear = 3130.0;
constexpr double degree = std::numbers::pi / 180.0;

Spot sum(const Spot& a, double k, const Spot& b) {
  return {a.x + k * b.x, a.y + k * b.y, a.z + k * b.z};
}
Spot scaled_to(const Spot& a, double to) {
  return sum({}, to / std::sqrt(inner(a, a)), a);
}
Spot outer(const Spot& a, const Spot& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/// A surface, its patch with the normal downwards, and how far below it a place lies.
struct Shape {
  std::string name;
  SurfaceDescription description;
  Patch patch;
  std::function<double(const Spot&)> depth;
};

Shape plane(double z, double angle, double angle_across) {
  const double along = std::tan(angle * degree);
  const double across = std::tan(angle_across * degree);
  const Spot normal{-along, -across, 1.0};
  return {"plane",
          {"[surface]", "plane", {{"z", z}, {"angle", angle}, {"angle_across", angle_across}}, {}},
          [=](double u, double v) {
            const double x = 60e-3 * u, y = 60e-3 * v;
            return Skin{{x, y, z + along * x + across * y}, normal};
          },
          [=](const Spot& p) { return (p.z - z - along * p.x - across * p.y) / std::sqrt(inner(normal, normal)); }};
}

Shape cylinder(double radius, const Spot& crown, double turn, double dip, bool inside) {
  const Spot axis{std::cos(dip * degree) * std::sin(turn * degree), std::cos(dip * degree) * std::cos(turn * degree),
                  std::sin(dip * degree)};
  const Spot up = scaled_to(sum({0.0, 0.0, -1.0}, axis.z, axis), 1.0);
  const Spot side = outer(axis, up);
  const Spot middle = sum(crown, inside ? radius : -radius, up);
  const double facing = inside ? -1.0 : 1.0;
  return {inside ? "bore" : "rod",
          {"[surface]",
           "cylinder",
           {{"radius", radius}, {"x", crown.x}, {"y", crown.y}, {"z", crown.z}, {"turn", turn}, {"dip", dip}},
           {{"side", inside ? "inside" : "outside"}}},
          [=](double u, double v) {
            const double angle = 89.9 * degree * u;
            const Spot out = sum(sum({}, facing * std::cos(angle), up), std::sin(angle), side);
            return Skin{sum(sum(middle, radius, out), 60e-3 * v, axis), sum({}, -facing, out)};
          },
          [=](const Spot& p) {
            const Spot from = p - middle;
            const Spot off = sum(from, -inner(from, axis), axis);
            return facing * (radius - std::sqrt(inner(off, off)));
          }};
}

Shape sphere(double radius, const Spot& crown, bool inside) {
  const double facing = inside ? -1.0 : 1.0;
  const Spot centre = sum(crown, facing * radius, {0.0, 0.0, 1.0});
  return {inside ? "hollow" : "ball",
          {"[surface]",
           "sphere",
           {{"radius", radius}, {"x", crown.x}, {"y", crown.y}, {"z", crown.z}},
           {{"side", inside ? "inside" : "outside"}}},
          [=](double u, double v) {
            const Spot out = scaled_to({2.5 * u, 2.5 * v, -facing}, radius);
            return Skin{sum(centre, 1.0, out), sum({}, -facing, out)};
          },
          [=](const Spot& p) { return facing * (radius - apart(p, centre)); }};
}

/// A cone about an axis along y, turned: distance 10 mm at -30 mm, 16 mm at 30 mm.
Shape cone(const Spot& origin, double turn) {
  const Spot axis{std::sin(turn * degree), std::cos(turn * degree), 0.0};
  const Spot side = outer(axis, {0.0, 0.0, -1.0});
  const std::string file = testing::TempDir() + "echoform_skip_cone_" + std::to_string(getpid()) + ".csv";
  std::ofstream(file) << "-0.03,0.010\n0.03,0.016\n";
  return {"cone",
          {"[surface]",
           "revolved",
           {{"x", origin.x}, {"y", origin.y}, {"z", origin.z}, {"turn", turn}, {"dip", 0.0}},
           {{"file", file}}},
          [=](double u, double v) {
            const double along = 30e-3 * v, out = 13e-3 + 0.1 * along, angle = 120.0 * degree * u;
            const Spot away = sum(sum({}, -std::cos(angle), {0.0, 0.0, 1.0}), std::sin(angle), side);
            return Skin{sum(sum(origin, along, axis), out, away), sum(sum({}, -1.0, away), 0.1, axis)};
          },
          [=](const Spot& p) {
            const Spot from = p - origin;
            const double along = inner(from, axis);
            const Spot off = sum(from, -along, axis);
            return std::min((13e-3 + 0.1 * along - std::sqrt(inner(off, off))) / std::hypot(1.0, 0.1), 30e-3 - std::abs(along));
          }};
}

using Triangle = std::array<Spot, 3>;

std::string stl_file(const std::string& name, const std::vector<Triangle>& triangles) {
  const std::string file = testing::TempDir() + "echoform_skip_" + name + "_" + std::to_string(getpid()) + ".stl";
  std::ofstream out(file);
  out.precision(17);
  out << "solid part\n";
  for (const Triangle& triangle : triangles) {
    out << "facet normal 0 0 0\nouter loop\n";
    for (const Spot& at : triangle) out << "vertex " << at.x << ' ' << at.y << ' ' << at.z << '\n';
    out << "endloop\nendfacet\n";
  }
  out << "endsolid part\n";
  return file;
}

/// A box whose upper face is a tilted plane. That face is four triangles, whose common corner lies where rays meet it.
Shape box(double z, double angle, double angle_across) {
  Shape shape = plane(z, angle, angle_across);
  const double along = std::tan(angle * degree), across = std::tan(angle_across * degree);
  std::array<Spot, 4> top{Spot{-40e-3, -40e-3}, {40e-3, -40e-3}, {40e-3, 40e-3}, {-40e-3, 40e-3}};
  std::array<Spot, 4> bottom = top;
  for (Spot& at : top) at.z = z + along * at.x + across * at.y;
  for (Spot& at : bottom) at.z = 0.1;
  const Spot middle{1e-3, 2e-3, z + along * 1e-3 + across * 2e-3};
  std::vector<Triangle> triangles;
  for (std::size_t k = 0; k < 4; ++k) {
    const std::size_t next = (k + 1) % 4;
    triangles.push_back({top[next], top[k], middle});
    triangles.push_back({top[k], top[next], bottom[next]});
    triangles.push_back({top[k], bottom[next], bottom[k]});
  }
  triangles.push_back({bottom[0], bottom[1], bottom[2]});
  triangles.push_back({bottom[0], bottom[2], bottom[3]});
  shape.name = "box";
  shape.description = {"[surface]", "stl", {{"scale", 1.0}}, {{"file", stl_file("box", triangles)}}};
  return shape;
}

/// A ball of triangles, from pole to pole along x, `slices` around.
std::vector<Triangle> ball_of_triangles(double radius, const Spot& centre, int slices) {
  const auto at = [&](int ring, int slice) {
    const double polar = std::numbers::pi * ring / (slices / 2), angle = 2.0 * std::numbers::pi * (slice % slices) / slices;
    if (ring == 0 || ring == slices / 2) return Spot{centre.x + (ring == 0 ? radius : -radius), centre.y, centre.z};
    return Spot{centre.x + radius * std::cos(polar), centre.y + radius * std::sin(polar) * std::cos(angle),
                centre.z + radius * std::sin(polar) * std::sin(angle)};
  };
  std::vector<Triangle> triangles;
  for (int ring = 0; ring < slices / 2; ++ring) {
    for (int slice = 0; slice < slices; ++slice) {
      if (ring > 0) triangles.push_back({at(ring, slice), at(ring + 1, slice), at(ring, slice + 1)});
      if (ring + 1 < slices / 2) triangles.push_back({at(ring + 1, slice), at(ring + 1, slice + 1), at(ring, slice + 1)});
    }
  }
  return triangles;
}

/// Where a way meets a shape.
struct Meeting {
  const Shape* shape;
  bool from_below;
  bool goes_below;
};

struct Least {
  double time = std::numeric_limits<double>::infinity();
  /// By how much it clears what would make it none: sides in sines, and the shapes' ends in their parameters. 0: there is none.
  double clearance = 0.0;
};

/// Of all chains over lattices the locally least ones, narrowed down; the earliest that keeps to its sides.
Least least_time(const Spot& from, const Spot& to, const std::vector<Meeting>& meetings, const std::vector<double>& velocities,
                 const Shape* front, const Shape* back) {
  constexpr int lattice = 40;
  constexpr int row = lattice + 1;
  const std::size_t count = meetings.size();
  std::vector<std::vector<Spot>> places(count);
  std::vector<std::vector<double>> times(count);
  std::vector<std::vector<std::size_t>> before(count);
  for (std::size_t k = 0; k < count; ++k) {
    for (int n = 0; n < row * row; ++n)
      places[k].push_back(meetings[k].shape->patch(-1.0 + 2.0 * (n % row) / lattice, -1.0 + 2.0 * (n / row) / lattice).at);
    for (const Spot& place : places[k]) {
      double least = std::numeric_limits<double>::infinity();
      std::size_t chosen = 0;
      if (k == 0) least = apart(from, place) / velocities[0];
      for (std::size_t i = 0; k > 0 && i < places[k - 1].size(); ++i) {
        const double time = times[k - 1][i] + apart(places[k - 1][i], place) / velocities[k];
        if (!(time < least)) continue;
        least = time;
        chosen = i;
      }
      times[k].push_back(least);
      before[k].push_back(chosen);
    }
  }
  std::vector<double> totals;
  for (std::size_t n = 0; n < places.back().size(); ++n)
    totals.push_back(times.back()[n] + apart(places.back()[n], to) / velocities.back());
  Least best;
  for (int i = 1; i < lattice; ++i) {
    for (int j = 1; j < lattice; ++j) {
      const auto n = static_cast<std::size_t>(j * row + i);
      bool least = true;
      for (int b = -1; b <= 1; ++b) {
        for (int a = -1; a <= 1; ++a) least = least && totals[n] <= totals[static_cast<std::size_t>((j + b) * row + i + a)];
      }
      if (!least) continue;
      std::vector<double> at(2 * count);
      std::size_t chain = n;
      for (std::size_t k = count; k-- > 0;) {
        at[2 * k] = -1.0 + 2.0 * static_cast<double>(chain % row) / lattice;
        at[2 * k + 1] = -1.0 + 2.0 * static_cast<double>(chain / row) / lattice;
        chain = before[k][chain];
      }
      const auto time_over = [&](const std::vector<double>& parameters) {
        double time = 0.0;
        Spot last = from;
        for (std::size_t k = 0; k < count; ++k) {
          const Spot next = meetings[k].shape->patch(parameters[2 * k], parameters[2 * k + 1]).at;
          time += apart(last, next) / velocities[k];
          last = next;
        }
        return time + apart(last, to) / velocities[count];
      };
      double local = time_over(at);
      std::size_t combinations = 1;
      for (std::size_t k = 0; k < 2 * count; ++k) combinations *= 3;
      // 22 halvings leave 1e-8 of a patch, 1 nm: its time, stationary, is good to rounding.
      double step = 1.0 / lattice;
      for (int halving = 0; halving < 22; step *= 0.5, ++halving) {
        for (bool moved = true; moved;) {
          moved = false;
          const std::vector<double> centre = at;
          for (std::size_t c = 0; c < combinations; ++c) {
            std::vector<double> tried = centre;
            std::size_t digits = c;
            for (double& one : tried) {
              one += (static_cast<double>(digits % 3) - 1.0) * step;
              digits /= 3;
            }
            if (const double time = time_over(tried); time < local) {
              local = time;
              at = tried;
              moved = true;
            }
          }
        }
      }
      if (local >= best.time) continue;
      double clearance = std::numeric_limits<double>::infinity();
      std::vector<Spot> way{from};
      for (std::size_t k = 0; k < count; ++k) {
        clearance = std::min({clearance, 1.0 - std::abs(at[2 * k]), 1.0 - std::abs(at[2 * k + 1])});
        way.push_back(meetings[k].shape->patch(at[2 * k], at[2 * k + 1]).at);
      }
      way.push_back(to);
      for (std::size_t k = 0; k < count; ++k) {
        const Spot normal = scaled_to(meetings[k].shape->patch(at[2 * k], at[2 * k + 1]).inwards, 1.0);
        const double arrives = inner(scaled_to(way[k + 1] - way[k], 1.0), normal);
        const double leaves = inner(scaled_to(way[k + 2] - way[k + 1], 1.0), normal);
        clearance = std::min({clearance, meetings[k].from_below ? -arrives : arrives, meetings[k].goes_below ? leaves : -leaves});
      }
      // What lies in the way, at 200 places of each leg but for its ends.
      for (std::size_t leg = 0; leg <= count; ++leg) {
        const bool in_part = velocities[leg] != water;
        for (int part = 2; part < 199; ++part) {
          const Spot place = sum(way[leg], part / 200.0, way[leg + 1] - way[leg]);
          const double off = 1e-3 * apart(way[leg], way[leg + 1]);
          if (front != nullptr && (in_part ? front->depth(place) : -front->depth(place)) < -off) clearance = -1.0;
          if (back != nullptr && back->depth(place) > off) clearance = -1.0;
        }
      }
      if (clearance > 0.0) best = {local, clearance};
    }
  }
  return best;
}

struct Case {
  const char* name;
  bool couplant;
  std::function<Shape()> front;
  std::function<Shape()> back;
  std::vector<std::string> sides;
};

std::vector<Case> cases() {
  const auto level = [] { return plane(0.0, 0.0, 0.0); };
  return {
      {"contact_tilted", false, level, [] { return plane(24e-3, 5.0, -8.0); }, {"LL", "LT", "TLT"}},
      {"contact_cavity",
       false,
       level,
       [] {
         return sphere(15e-3, {1e-3, -2e-3, 22e-3}, false);
       },
       {"LL", "TL", "LLL"}},
      {"contact_rod",
       false,
       level,
       [] {
         return cylinder(18e-3, {1e-3, 2e-3, 22e-3}, 35.0, 6.0, false);
       },
       {"LL", "TL"}},
      {"contact_cone",
       false,
       level,
       [] {
         return cone({1e-3, 2e-3, 36e-3}, 25.0);
       },
       {"LL", "LT"}},
      {"ball_over_tilted",
       true,
       [] {
         return sphere(50e-3, {1e-3, 1e-3, 0.0}, false);
       },
       [] { return plane(22e-3, -3.0, 4.0); },
       {"LL", "TT", "TL"}},
      {"rod_with_far_wall",
       true,
       [] {
         return cylinder(40e-3, {0.0, 1e-3, 0.0}, 30.0, 4.0, false);
       },
       [] {
         return cylinder(60e-3, {1e-3, 0.0, 24e-3}, -20.0, 0.0, true);
       },
       {"LL", "LT"}},
      {"along_y_over_tilted",
       true,
       [] {
         return cylinder(45e-3, {0.0, 0.0, 0.0}, 0.0, 0.0, false);
       },
       [] { return plane(22e-3, 2.0, -6.0); },
       {"LL", "LT"}},
      {"ball_over_cone",
       true,
       [] {
         return sphere(60e-3, {0.0, 0.0, 0.0}, false);
       },
       [] {
         return cone({1e-3, 2e-3, 36e-3}, 25.0);
       },
       {"LL"}},
      {"contact_box", false, level, [] { return box(24e-3, 5.0, -8.0); }, {"LL", "LT", "TLT"}},
      {"water_over_box", true, level, [] { return box(23e-3, -4.0, 3.0); }, {"LL", "TL"}},
      {"box_below_water", true, [] { return box(1e-3, 6.0, -5.0); }, [] { return plane(24e-3, 0.0, 0.0); }, {"LL", "LT"}},
      {"water_over_cavity",
       true,
       level,
       [] {
         return sphere(20e-3, {-1e-3, 2e-3, 22e-3}, false);
       },
       {"LL", "TT"}},
      {"hollow_over_plane",
       true,
       [] {
         return sphere(60e-3, {0.0, 0.0, 3e-3}, true);
       },
       [] { return plane(26e-3, 0.0, 0.0); },
       {"LL", "TT"}},
  };
}

class SpatialSkips : public testing::TestWithParam<int> {};

TEST_P(SpatialSkips, HaveTheLeastTimesToPlacesAtRandom) {
  const Case test = cases()[static_cast<std::size_t>(GetParam())];
  const Shape front = test.front();
  const Shape back = test.back();
  Scene scene;
  scene.couplant = MetresPerSecond(test.couplant ? water : 0.0);
  const MadeSurface made_front = make_any_surface(front.description);
  const MadeSurface made_back = make_any_surface(back.description);
  scene.surface = made_front.curve;
  scene.spatial_surface = made_front.spatial;
  scene.backwall = made_back.curve;
  scene.spatial_backwall = made_back.spatial;
  std::mt19937 random(29);
  std::uniform_real_distribution<double> across(-9e-3, 9e-3), down(-1e-3, 27e-3);
  Acquisition acquisition;
  acquisition.probe = make_matrix_probe(
      {.columns = 2, .rows = 2, .pitch = Metres(7e-3), .row_pitch = Metres(6e-3), .width = Metres(5e-4), .length = Metres(5e-4)},
      Hertz(5e6), Hertz(3e6));
  for (Element& element : acquisition.probe.elements) element.centre.z = Metres(test.couplant ? -14e-3 : 0.0);
  acquisition.samples = 1024;
  acquisition.sample_rate = Hertz(100e6);
  const Material aluminium{MetresPerSecond(longitudinal), MetresPerSecond(shear)};
  std::vector<Point> pixels;
  for (int k = 0; k < 16; ++k) pixels.push_back({Metres(across(random)), Metres(across(random)), Metres(down(random))});
  // And some close above the backwall, where a leg is short.
  for (const double above : {20e-6, 100e-6, 500e-6}) {
    const Spot from{across(random), across(random), 0.0};
    double low = 8e-3, high = 60e-3;
    for (int step = 0; step < 60; ++step) {
      const double middle = 0.5 * (low + high);
      (back.depth({from.x, from.y, middle}) < -above ? low : high) = middle;
    }
    pixels.push_back({Metres(from.x), Metres(from.y), Metres(low)});
  }
  std::size_t reached = 0, unreached = 0, dark = 0;
  double worst = 0.0;
  for (const std::string& side : test.sides) {
    const DelayLaw law = make_delay_law(test.couplant ? "immersion" : "contact",
                                        {acquisition, aluminium, side + "-" + std::string(1, side.back()), scene});
    std::vector<double> velocities;
    std::vector<Meeting> meetings;
    if (test.couplant) {
      velocities.push_back(water);
      meetings.push_back({&front, false, true});
    }
    for (std::size_t leg = 0; leg < side.size(); ++leg) {
      velocities.push_back(side[leg] == 'L' ? longitudinal : shear);
      if (leg + 1 < side.size()) meetings.push_back(leg % 2 == 0 ? Meeting{&back, false, false} : Meeting{&front, true, true});
    }
    for (std::size_t source = 0; source < 4; source += 3) {
      const Point& centre = acquisition.probe.elements[source].centre;
      std::vector<double> found(pixels.size());
      law.transmit->travel_times(source, pixels, found);
      for (std::size_t k = 0; k < pixels.size(); ++k) {
        const Spot to{pixels[k].x.value, pixels[k].y.value, pixels[k].z.value};
        if (std::min(std::abs(front.depth(to)), std::abs(back.depth(to))) < 1e-5) continue;
        if (front.depth(to) < 0.0 || back.depth(to) > 0.0) {
          EXPECT_TRUE(std::isnan(found[k]));
          ++unreached;
          continue;
        }
        const Least least = least_time({centre.x.value, centre.y.value, centre.z.value}, to, meetings, velocities,
                                       test.couplant || side.size() > 2 ? &front : nullptr, &back);
        const bool is_one = least.clearance > 0.0;
        EXPECT_EQ(is_one, !std::isnan(found[k]))
            << side << " from " << source << " to (" << to.x << ", " << to.y << ", " << to.z << "), " << least.clearance;
        if (!is_one || std::isnan(found[k])) {
          ++dark;
          continue;
        }
        ++reached;
        worst = std::max(worst, std::abs(found[k] - least.time));
        EXPECT_NEAR(found[k], least.time, 1e-12)
            << side << " from " << source << " to (" << to.x << ", " << to.y << ", " << to.z << ")";
      }
    }
  }
  std::printf("%-18s %zu rays, off by at most %.1e s; none to %zu places in the part and %zu outside\n", test.name, reached,
              worst, dark, unreached);
  EXPECT_GT(reached, 15U);
}

INSTANTIATE_TEST_SUITE_P(All, SpatialSkips, testing::Range(0, 13),
                         [](const auto& index) { return std::string(cases()[static_cast<std::size_t>(index.param)].name); });

/// The least time over a triangle: convex over it, so by thirds along one way and, for each, along the other.
double least_over(const Triangle& triangle, const Spot& from, const Spot& to, double c1, double c2, double known) {
  const Spot middle = sum({}, 1.0 / 3.0, sum(sum(triangle[0], 1.0, triangle[1]), 1.0, triangle[2]));
  double wide = 0.0;
  for (const Spot& corner : triangle) wide = std::max(wide, apart(middle, corner));
  const auto time_at = [&](const Spot& at) { return apart(from, at) / c1 + apart(at, to) / c2; };
  if (time_at(middle) - wide * (1.0 / c1 + 1.0 / c2) > known) return known;
  // (2/3)^30 is 5e-6, 10 nm of these triangles, and about a least time the time changes with the square: by 1e-18 s.
  const auto by_thirds = [](const auto& f) {
    double low = 0.0, high = 1.0;
    for (int step = 0; step < 30; ++step) {
      const double a = low + (high - low) / 3.0, b = high - (high - low) / 3.0;
      (f(a) < f(b) ? high : low) = f(a) < f(b) ? b : a;
    }
    return std::min({f(0.5 * (low + high)), f(0.0), f(1.0)});
  };
  const Spot one = triangle[1] - triangle[0], other = triangle[2] - triangle[0];
  return std::min(known, by_thirds([&](double u) {
                    return by_thirds([&](double v) { return time_at(sum(sum(triangle[0], u, one), v * (1.0 - u), other)); });
                  }));
}

TEST(SpatialSkipsOffTriangles, OfABallAreTheLeastOverAllOfThem) {
  // The cavity of contact_cavity: convex as one sees it, so that the least time over its triangles is a ray wherever the straight
  // way does not go through it. Edges between triangles, 7 degrees and less, stand for what is round.
  const double radius = 15e-3;
  const Spot centre{1e-3, -2e-3, 37e-3};
  const std::vector<Triangle> triangles = ball_of_triangles(radius, centre, 52);
  Scene scene;
  scene.spatial_backwall =
      make_any_surface({"[backwall]", "stl", {{"scale", 1.0}}, {{"file", stl_file("ball", triangles)}}}).spatial;
  Scene round;
  round.spatial_backwall = make_any_surface(sphere(radius, {1e-3, -2e-3, 22e-3}, false).description).spatial;
  scene.surface = round.surface = make_surface({"[surface]", "plane", {}, {}});
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(3, Metres(5e-3), Metres(5e-4), Hertz(5e6), Hertz(3e6));
  const Material aluminium{MetresPerSecond(longitudinal), MetresPerSecond(shear)};
  std::mt19937 random(31);
  std::uniform_real_distribution<double> across(-9e-3, 9e-3), down(2e-3, 21e-3);
  std::vector<Point> pixels;
  for (int k = 0; k < 12; ++k) pixels.push_back({Metres(across(random)), Metres(across(random)), Metres(down(random))});
  double worst = 0.0, later = 0.0;
  std::size_t rays = 0;
  for (const auto& [side, down_velocity, up] : {std::tuple{"LL-L", longitudinal, longitudinal}, {"LT-T", longitudinal, shear}}) {
    const auto leg = make_delay_law("contact", {acquisition, aluminium, side, scene}).transmit;
    for (std::size_t source = 0; source < 3; ++source) {
      const Point& centre_of = acquisition.probe.elements[source].centre;
      const Spot from{centre_of.x.value, centre_of.y.value, centre_of.z.value};
      std::vector<double> found(pixels.size());
      leg->travel_times(source, pixels, found);
      for (std::size_t k = 0; k < pixels.size(); ++k) {
        const Spot to{pixels[k].x.value, pixels[k].y.value, pixels[k].z.value};
        double least = std::numeric_limits<double>::infinity();
        // Corners first: what lies farther than they say is passed over.
        for (const Triangle& triangle : triangles) {
          for (const Spot& at : triangle) least = std::min(least, apart(from, at) / down_velocity + apart(at, to) / up);
        }
        for (const Triangle& triangle : triangles) least = least_over(triangle, from, to, down_velocity, up, least);
        ASSERT_FALSE(std::isnan(found[k])) << side << ' ' << source << ' ' << k;
        ++rays;
        worst = std::max(worst, std::abs(found[k] - least));
      }
    }
  }
  // By way of the front surface from below, too, no earlier than off the ball around the triangles, and later by no more than
  // twice the way by which they lie within it, 15 mm (1 - cos(pi / 52)) and as much again across, at the slowest.
  const auto rough = make_delay_law("contact", {acquisition, aluminium, "LLT-L", scene}).transmit;
  const auto smooth = make_delay_law("contact", {acquisition, aluminium, "LLT-L", round}).transmit;
  for (std::size_t source = 0; source < 3; ++source) {
    std::vector<double> found(pixels.size()), expected(pixels.size());
    rough->travel_times(source, pixels, found);
    smooth->travel_times(source, pixels, expected);
    for (std::size_t k = 0; k < pixels.size(); ++k) {
      ASSERT_EQ(std::isnan(found[k]), std::isnan(expected[k])) << source << ' ' << k;
      if (std::isnan(found[k])) continue;
      ++rays;
      EXPECT_GT(found[k], expected[k] - 1e-12);
      later = std::max(later, found[k] - expected[k]);
    }
  }
  std::printf("%zu rays off %zu triangles, off by at most %.1e s; later than off a ball by at most %.1e s\n", rays,
              triangles.size(), worst, later);
  EXPECT_GT(rays, 72U);
  EXPECT_LE(worst, 1e-12);
  EXPECT_LE(later, 2.0 * 2.0 * radius * (1.0 - std::cos(std::numbers::pi / 52.0)) / shear);
}

/// A box of flat walls, whose upper face has an edge along x, at y = 0.4 mm, on one side and two on the other, which meet at
/// `joint`: between them is a triangle that is no more than a sliver.
std::vector<Triangle> box_with_sliver(double z, const Spot& joint) {
  const std::array<Spot, 6> top{Spot{-40e-3, -40e-3, z}, {40e-3, -40e-3, z}, {40e-3, 0.4e-3, z},
                                {40e-3, 40e-3, z},       {-40e-3, 40e-3, z}, {-40e-3, 0.4e-3, z}};
  std::array<Spot, 6> bottom = top;
  for (Spot& at : bottom) at.z = 0.1;
  std::vector<Triangle> triangles{{top[5], top[2], top[3]}, {top[5], top[3], top[4]}, {top[5], joint, top[2]},
                                  {top[0], joint, top[5]},  {top[0], top[1], joint},  {top[1], top[2], joint}};
  for (std::size_t k = 0; k < 6; ++k) {
    const std::size_t next = (k + 1) % 6;
    triangles.push_back({top[next], top[k], bottom[k]});
    triangles.push_back({top[next], bottom[k], bottom[next]});
    if (k > 0 && k < 5) triangles.push_back({bottom[0], bottom[k + 1], bottom[k]});
  }
  return triangles;
}

TEST(SpatialSkipsOffTriangles, GoPastThoseWithoutArea) {
  // As files have them where one edge was split and its neighbour not: on the edge, and beside it by the rounding of a file of
  // floats in mm.
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(3, Metres(5e-3), Metres(5e-4), Hertz(5e6), Hertz(3e6));
  const Material aluminium{MetresPerSecond(longitudinal), MetresPerSecond(shear)};
  std::mt19937 random(37);
  std::uniform_real_distribution<double> along(-9e-3, 9e-3), across(-1e-3, 3e-3), down(2e-3, 21e-3);
  std::vector<Point> pixels;
  for (int k = 0; k < 300; ++k) pixels.push_back({Metres(along(random)), Metres(across(random)), Metres(down(random))});
  for (const double off : {0.0, 4e-9, -4e-9}) {
    Scene scene;
    Scene flat;
    const std::string file = stl_file("sliver", box_with_sliver(24e-3, {1e-3, 0.4e-3 + off, 24e-3 + off}));
    scene.spatial_backwall = make_any_surface({"[backwall]", "stl", {{"scale", 1.0}}, {{"file", file}}}).spatial;
    flat.backwall = make_surface({"[backwall]", "plane", {{"z", 24e-3}}, {}});
    scene.surface = flat.surface = make_surface({"[surface]", "plane", {}, {}});
    for (const char* side : {"LL-L", "LT-T", "TLT-T"}) {
      const auto off_triangles = make_delay_law("contact", {acquisition, aluminium, side, scene}).transmit;
      const auto off_plane = make_delay_law("contact", {acquisition, aluminium, side, flat}).transmit;
      double worst = 0.0;
      std::size_t lost = 0;
      for (std::size_t source = 0; source < 3; ++source) {
        std::vector<double> found(pixels.size()), expected(pixels.size());
        off_triangles->travel_times(source, pixels, found);
        off_plane->travel_times(source, pixels, expected);
        for (std::size_t k = 0; k < pixels.size(); ++k) {
          if (std::isnan(found[k])) ++lost;
          worst = std::max(worst, std::abs(found[k] - expected[k]));
        }
      }
      EXPECT_EQ(lost, 0U) << side << ' ' << off;
      // The joint's own depth, there and back.
      EXPECT_LE(worst, 1e-12 + 2.0 * std::abs(off) / shear) << side << ' ' << off;
    }
  }
}

TEST(SpatialSkipsAt, AnEndOfPlanningStopWithinAPortion) {
  RayPath path;
  path.velocities = {MetresPerSecond(longitudinal), MetresPerSecond(shear)};
  path.interfaces.push_back({nullptr, true, false, make_any_surface(plane(24e-3, 0.0, 5.0).description).spatial});
  const auto field = make_ray_field(path, {Point{}});
  const std::vector<Point> points(field->portion().points, Point{Metres(1e-3), Metres(2e-3), Metres(10e-3)});
  std::vector<double> seconds(points.size(), -1.0);
  std::stop_source stop;
  const Planning planning(stop.get_token());
  field->times(0, 1, std::span(points).first(1), seconds);
  EXPECT_GT(seconds[0], 0.0);
  stop.request_stop();
  seconds.assign(seconds.size(), -1.0);
  EXPECT_THROW(field->times(0, 1, points, seconds), PlanningEnded);
  EXPECT_EQ(seconds.back(), -1.0);
}

TEST(SpatialSkipsAt, PointsAreRefusedInOneLine) {
  const auto fault_of = [](const Scene& scene) {
    return test::input_error([&] {
      const Material aluminium{MetresPerSecond(longitudinal), MetresPerSecond(shear)};
      Acquisition acquisition;
      acquisition.probe = make_linear_probe(2, Metres(1e-3), Metres(5e-4), Hertz(5e6), Hertz(3e6));
      const Point pixel{Metres(0.0), Metres(0.0), Metres(0.01)};
      double found = 0.0;
      make_delay_law("contact", {acquisition, aluminium, "LLL-L", scene}).transmit->travel_times(0, {&pixel, 1}, {&found, 1});
    });
  };
  Scene scene;
  scene.spatial_backwall = make_any_surface(plane(24e-3, 0.0, 5.0).description).spatial;
  EXPECT_EQ(fault_of(scene), "");
  scene.surface = std::make_shared<const Surface>(Surface::sampled("[surface]", {{-0.01, 0.0}, {0.0, 0.001}, {0.01, 0.0}}));
  EXPECT_EQ(fault_of(scene),
            "[surface]: found points, and rays that skip at a surface in three dimensions; expected interpolation = \"lines\" or "
            "\"spline\"");
}

}  // namespace
}  // namespace echoform::spatial_skip
