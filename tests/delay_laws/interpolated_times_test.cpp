// Tables of interpolated times, pixel by pixel against the solver's.
#include "delay_laws/interpolated_times.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <random>
#include <vector>

#include "delay_laws/ray_leg.hpp"
#include "rays/ray_bundle.hpp"
#include "rays/ray_path.hpp"

namespace echoform::interpolated_times_test {
namespace {

constexpr MetresPerSecond water{1480.0};
constexpr MetresPerSecond longitudinal{6320.0};
constexpr MetresPerSecond shear{3130.0};
constexpr double pi = std::numbers::pi;

/// A leg's half of a hundredth of the period at 5 MHz.
constexpr double tolerance = 0.005 / 5e6;
/// Single precision relative to the middle of each source's times, which lie up to 60 us apart here: 2^-25 of that, twice.
constexpr double rounding = 4e-12;

std::shared_ptr<const Surface> surface_of(std::vector<Segment> segments) {
  return std::make_shared<const Surface>("surface", std::move(segments));
}

std::shared_ptr<const Surface> plane(double z, double degrees) {
  const Vector2 half{0.5, 0.5 * std::tan(degrees * pi / 180.0)};
  return surface_of({line_segment(Vector2{0.0, z} - half, Vector2{0.0, z} + half)});
}

std::shared_ptr<const Surface> rod(double radius, double crown = 0.0) {
  return surface_of({arc_segment({0.0, crown + radius}, radius, -pi, pi)});
}

std::shared_ptr<const Surface> lines(const std::vector<Vector2>& points) {
  std::vector<Segment> segments;
  for (std::size_t k = 1; k < points.size(); ++k) segments.push_back(line_segment(points[k - 1], points[k]));
  return surface_of(std::move(segments));
}

/// Smooth, of cubics through a wave's points.
std::shared_ptr<const Surface> wave(double height, double wavelength, double phase = 0.0, double depth = 0.0) {
  const double number = 2.0 * pi / wavelength;
  std::vector<Segment> segments;
  constexpr int pieces = 100;
  const double step = 120e-3 / pieces;
  const auto place = [&](int k) {
    const double x = -60e-3 + step * k;
    return Vector2{x, depth + height * std::sin(number * x + phase)};
  };
  const auto slope = [&](int k) {
    return Vector2{step, step * height * number * std::cos(number * (-60e-3 + step * k) + phase)};
  };
  for (int k = 0; k < pieces; ++k) segments.push_back(cubic_segment(place(k), slope(k), place(k + 1), slope(k + 1)));
  return surface_of(std::move(segments));
}

/// Flat, with a notch `width` wide and `depth` deep at `x`.
std::shared_ptr<const Surface> notched(double x, double width, double depth) {
  return lines({{-0.1, 0.0},
                {x - 0.6 * width, 0.0},
                {x - 0.4 * width, depth},
                {x + 0.4 * width, depth},
                {x + 0.6 * width, 0.0},
                {0.1, 0.0}});
}

Probe probe_of(std::size_t elements, double stand_off) {
  Probe probe = make_linear_probe(elements, Metres(9e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  for (Element& element : probe.elements) element.centre.z = Metres(-stand_off);
  return probe;
}

RayPath through(std::shared_ptr<const Surface> front) {
  return {{water, longitudinal}, {{std::move(front), false, false}}};
}

RayPath skip(std::shared_ptr<const Surface> front, std::shared_ptr<const Surface> backwall) {
  return {{water, shear, longitudinal}, {{std::move(front), false, false}, {std::move(backwall), true, false}}};
}

/// 0.25 mm a pixel, a fifth of the wavelength of L at 5 MHz.
Grid grid_of(std::size_t nx, std::size_t nz, double top = 6e-3) {
  const double half = 0.125e-3 * static_cast<double>(nx - 1);
  return {{Metres(-half), Metres(half), nx}, {Metres(top), Metres(top + 0.25e-3 * static_cast<double>(nz - 1)), nz}, {}};
}

struct Figures {
  std::size_t found = 0;   ///< rays of the table
  std::size_t pixels = 0;  ///< with a time, over all sources
  std::size_t dark = 0;    ///< in the part, without a ray

  [[nodiscard]] double pixels_a_ray() const { return static_cast<double>(pixels) / static_cast<double>(found); }
};

/// Every pixel of every source against RaySolver: rays where it has rays, and times within the tolerance.
Figures expect_within(const Probe& probe, const RayPath& path, const PartBounds& bounds, const Grid& grid) {
  std::vector<Point> sources;
  for (const Element& element : probe.elements) sources.push_back(element.centre);
  const auto field = make_ray_field(path, sources);
  const std::vector<Point> points = grid.points();
  const PartPixels pixels = pixels_in(bounds, grid, 1);
  const std::vector<double> middle(sources.size(), 20e-6);
  std::vector<float> table(sources.size() * points.size(), std::numeric_limits<float>::quiet_NaN());
  const InterpolatedTimes times(*field, grid, pixels, Seconds(tolerance));
  Figures figures;
  figures.found = times.fill(0, sources.size(), middle, table.data());
  std::size_t lost = 0;
  double greatest = 0.0;
  for (std::size_t source = 0; source < sources.size(); ++source) {
    RaySolver solver(path, sources[source]);
    for (std::size_t k = 0; k < points.size(); ++k) {
      const double exact = pixels.imaged(k) ? solver.time_to(pixels.place(grid, k)) : std::numeric_limits<double>::quiet_NaN();
      const double time = middle[source] + static_cast<double>(table[source * points.size() + k]);
      if (std::isnan(exact) != std::isnan(time)) ++lost;
      if (std::isnan(exact) && pixels.imaged(k)) ++figures.dark;
      if (std::isnan(exact)) continue;
      ++figures.pixels;
      greatest = std::max(greatest, std::abs(exact - time));
    }
  }
  EXPECT_EQ(lost, 0U) << "pixels with a ray in one of both alone";
  EXPECT_LE(greatest, tolerance + rounding);
  return figures;
}

/// Where all is smooth a cell of 32 x 32 pixels takes 64 rays and its share of the border; nearer to the surface cells are
/// smaller, and this grid of 4 x 3.75 such cells takes 21 x 17 nodes at least: 41 pixels a ray at best.
const Grid wide = grid_of(129, 121);

TEST(InterpolatedTimes, OfPlanesTakeFewRays) {
  for (const double degrees : {0.0, 10.0}) {
    const auto front = plane(0.0, degrees);
    EXPECT_GT(expect_within(probe_of(2, 20e-3), through(front), {front, nullptr}, wide).pixels_a_ray(), 15.0) << degrees;
  }
  const auto front = plane(0.0, 0.0);
  const auto backwall = plane(45e-3, 5.0);
  EXPECT_GT(expect_within(probe_of(2, 20e-3), skip(front, backwall), {front, backwall}, wide).pixels_a_ray(), 30.0);
}

/// Ways that might hide keep cells over curved surfaces at 16 pixels or below, 16 pixels a ray, but for what lies deep.
TEST(InterpolatedTimes, OfSmoothCurvesTakeFewerRays) {
  const auto round = rod(50e-3);
  EXPECT_GT(expect_within(probe_of(2, 20e-3), through(round), {round, nullptr}, wide).pixels_a_ray(), 8.0);
  const auto outer = rod(60e-3);
  const auto inner = rod(25e-3, 35e-3);
  EXPECT_GT(expect_within(probe_of(1, 20e-3), skip(outer, inner), {outer, inner}, wide).pixels_a_ray(), 4.0);
  // Here and there several rays reach a pixel.
  const auto wavy = wave(1e-3, 40e-3);
  EXPECT_GT(expect_within(probe_of(2, 20e-3), through(wavy), {wavy, nullptr}, wide).pixels_a_ray(), 2.0);
}

/// Corners and shadows take a ray a pixel, what lies between them does not.
TEST(InterpolatedTimes, KeepOffCornersAndShadows) {
  for (const double width : {4e-3, 0.2e-3}) {
    const auto notch = notched(2e-3, width, 1e-3);
    const Figures figures = expect_within(probe_of(2, 20e-3), through(notch), {notch, nullptr}, wide);
    EXPECT_GT(figures.dark, 0U) << width;
    EXPECT_GT(figures.pixels_a_ray(), 2.0) << width;
  }
  // A needle whose shadow is narrower than a pixel here and there: 20 um wide, and as high as half of the stand-off.
  const auto needle = notched(4e-3, 20e-6, -4e-3);
  const Figures behind = expect_within(probe_of(2, 8e-3), through(needle), {needle, nullptr}, wide);
  EXPECT_GT(behind.dark, 0U);
  // From beneath: the notch comes between backwall and pixel.
  const auto deep = notched(0.0, 0.5e-3, 6e-3);
  const auto backwall = plane(38e-3, 0.0);
  EXPECT_GT(expect_within(probe_of(1, 15e-3), skip(deep, backwall), {deep, backwall}, grid_of(65, 97, 2e-3)).dark, 0U);
}

/// Smooth, with one dimple or bump of a Gaussian.
std::shared_ptr<const Surface> dimpled(double at, double width, double height) {
  const auto place = [=](double x) { return Vector2{x, height * std::exp(-(x - at) * (x - at) / (width * width))}; };
  constexpr double step = 0.5e-3;
  const auto slope = [=](double x) { return Vector2{step, -2.0 * step * (x - at) / (width * width) * place(x).z}; };
  std::vector<Segment> segments;
  for (int k = 0; k < 200; ++k) {
    const double from = -50e-3 + step * k;
    segments.push_back(cubic_segment(place(from), slope(from), place(from + step), slope(from + step)));
  }
  return surface_of(std::move(segments));
}

/// Seeds give the same geometries everywhere: numbers are made of the engine's own.
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double operator()(double low, double high) { return low + (high - low) * static_cast<double>(engine_() >> 11U) * 0x1p-53; }

 private:
  std::mt19937_64 engine_;
};

std::shared_ptr<const Surface> any_surface(Random& random, int kind) {
  switch (kind) {
    case 0:
      return plane(random(-1e-3, 1e-3), random(-15.0, 15.0));
    case 1:
      return rod(random(15e-3, 100e-3));
    case 2:
      return wave(random(0.1e-3, 1e-3), random(15e-3, 60e-3), random(0.0, 6.0));
    case 3:
      return notched(random(-8e-3, 8e-3), random(0.05e-3, 6e-3), random(-2e-3, 2e-3));
    case 4: {
      std::vector<Vector2> points;
      for (int k = 0; k <= 10; ++k) points.push_back({-60e-3 + 12e-3 * k + random(-4e-3, 4e-3), random(-1.5e-3, 1.5e-3)});
      return lines(points);
    }
    default:
      return dimpled(random(-8e-3, 8e-3), random(1.5e-3, 5e-3), random(-1e-3, 1e-3));
  }
}

TEST(InterpolatedTimes, HoldForAnyGeometry) {
  for (unsigned seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto front = any_surface(random, static_cast<int>(seed % 6));
    RayPath path = through(front);
    PartBounds bounds{front, nullptr};
    if (seed / 6 % 4 == 1) {
      bounds.backwall = random(0.0, 1.0) < 0.5 ? plane(random(25e-3, 40e-3), random(-10.0, 10.0))
                                               : wave(random(0.1e-3, 1e-3), random(10e-3, 50e-3), 0.0, 35e-3);
      path = skip(front, bounds.backwall);
    } else if (seed / 6 % 4 == 3) {
      path.velocities = {MetresPerSecond(2700.0), MetresPerSecond(random(1000.0, 4000.0))};  // a wedge, slower or faster
    }
    const Figures figures = expect_within(probe_of(1, random(5e-3, 30e-3)), path, bounds, grid_of(58, 50, random(-1e-3, 8e-3)));
    EXPECT_GT(figures.pixels, 0U);
  }
}

TEST(InterpolatedTimes, AreExactWhereNothingCanBeInterpolated) {
  const auto front = plane(0.0, 0.0);
  const auto found = [&](const Probe& probe, const RayPath& path, const Grid& grid) {
    return make_ray_leg(probe, path, {front, nullptr})->tabulated(grid, 1, Seconds(tolerance))->rays(grid)->found;
  };
  const Grid grid = grid_of(33, 33);
  EXPECT_LT(found(probe_of(2, 20e-3), through(front), grid), 2 * grid.pixels());
  const Grid small = grid_of(8, 33);
  EXPECT_EQ(found(probe_of(2, 20e-3), through(front), small), 2 * small.pixels()) << "few pixels";
  Grid volume = grid;
  volume.y = {Metres(0.0), Metres(1e-3), 2};
  EXPECT_EQ(found(probe_of(2, 20e-3), through(front), volume), 2 * volume.pixels()) << "ways along y";
  Probe beside = probe_of(2, 20e-3);
  beside.elements[1].centre.y = Metres(1e-3);
  EXPECT_EQ(found(beside, through(front), grid), 2 * grid.pixels()) << "an element beside the plane of the grid";
  const auto points = std::make_shared<const Surface>(
      Surface::sampled("points", {{-20e-3, 0.0}, {-7e-3, 0.0}, {0.0, 0.0}, {6e-3, 0.0}, {20e-3, 0.0}}));
  EXPECT_EQ(found(probe_of(2, 20e-3), through(points), grid), 2 * grid.pixels()) << "points instead of a surface";
  // Without a tolerance, every ray is found.
  EXPECT_EQ(make_ray_leg(probe_of(2, 20e-3), through(front), {front, nullptr})->tabulated(grid, 1)->rays(grid)->found,
            2 * grid.pixels());
}

TEST(RayBundles, SayHowMuchMayHide) {
  const auto round = rod(50e-3);
  const RayPath path = through(round);
  // (1 mm / 2)^2 / (8 * 6320 m/s * 10 mm), from the strip's width and the bend of circular waves.
  EXPECT_NEAR(RayBundles(path).hidden(1e-3, 10e-3), 4.944620e-10, 1e-15);
  const RayPath flat = through(plane(0.0, 3.0));
  EXPECT_EQ(RayBundles(flat).hidden(1e-3, 10e-3), 0.0) << "one least time, whatever the place";
}

TEST(RayBundles, SeeANeedleBetweenTheirRays) {
  // Rays that a needle between them leaves free, and the same without it.
  const Vector2 source{0.0, -20e-3};
  const std::vector<Vector2> points{{-3e-3, 20e-3}, {3e-3, 20e-3}, {-3e-3, 22e-3}, {3e-3, 22e-3}};
  const auto is_one = [&](const std::vector<Vector2>& front) {
    const RayPath path = through(lines(front));
    RaySolver solver(path, {Metres(source.x), Metres(0.0), Metres(source.z)});
    std::vector<RayTrace> traces;
    for (const Vector2 point : points) {
      traces.push_back(solver.trace_to({Metres(point.x), Metres(0.0), Metres(point.z)}));
      EXPECT_FALSE(std::isnan(traces.back().seconds));
      traces.back().lead = 1.0;  // the needle's tip is no way that matters here
    }
    return RayBundles(path).one(source, points, traces, 0.5e-3);
  };
  EXPECT_TRUE(is_one({{-0.1, 0.0}, {-1e-6, 0.0}, {1e-6, 0.0}, {0.1, 0.0}}));
  EXPECT_FALSE(is_one({{-0.1, 0.0}, {-1e-6, 0.0}, {0.0, -1e-3}, {1e-6, 0.0}, {0.1, 0.0}}));
}

TEST(InterpolatedTimes, AreTakenWhereTheyPay) {
  const auto found = [&](const std::shared_ptr<const Surface>& front, const RayPath& path) {
    const Grid grid = grid_of(65, 65);
    const auto table = make_ray_leg(probe_of(1, 20e-3), path, {front, nullptr})->tabulated(grid, 1, Seconds(tolerance));
    return static_cast<double>(table->rays(grid)->found) / static_cast<double>(grid.pixels());
  };
  const auto round = rod(50e-3);
  EXPECT_LT(found(round, through(round)), 0.5);
  const auto notch = notched(2e-3, 4e-3, 1e-3);
  EXPECT_EQ(found(notch, through(notch)), 1.0) << "the curve field is quicker where there are shadows";
  EXPECT_LT(found(notch, skip(notch, plane(45e-3, 0.0))), 1.0) << "the general field is not";
}

}  // namespace
}  // namespace echoform::interpolated_times_test
