// Every example can be run live: its own simulated source, imaged by its own settings, shows its scatterers in every view.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "methods/display_settings.hpp"
#include "methods/registry.hpp"
#include "methods/scan_settings.hpp"
#include "methods/tfm/section.hpp"
#include "methods/tfm/simulated_scene.hpp"
#include "settings/reader.hpp"
#include "tests/simulators/imaged.hpp"
#include "tests/support/places.hpp"

namespace echoform {
namespace {

std::vector<std::string> example_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_directory() / "examples")) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Along and square to what lies level in a body, as docs/simulator.md has `turn` and `dip`; of a cylinder `level` is its axis.
struct BodyAxes {
  std::array<double, 3> level;
  std::array<double, 3> down;
  std::array<double, 3> normal;
};

BodyAxes axes_of(const Body& body) {
  const double turn = body.turn * std::numbers::pi / 180.0;
  const double dip = body.dip * std::numbers::pi / 180.0;
  const double s = std::sin(turn);
  const double c = std::cos(turn);
  if (body.kind == BodyKind::cylinder) {
    return {{s * std::cos(dip), c * std::cos(dip), std::sin(dip)},
            {c, -s, 0.0},
            {-s * std::sin(dip), -c * std::sin(dip), std::cos(dip)}};
  }
  return {{s, c, 0.0},
          {c * std::cos(dip), -s * std::cos(dip), std::sin(dip)},
          {-c * std::sin(dip), s * std::sin(dip), std::cos(dip)}};
}

double along(const std::array<double, 3>& axis, const std::array<double, 3>& way) {
  return axis[0] * way[0] + axis[1] * way[1] + axis[2] * way[2];
}

/// From a place to the body's surface; `way` leads there from its centre.
double distance_to_surface(const Body& body, const std::array<double, 3>& way) {
  const BodyAxes axes = axes_of(body);
  const double u = along(axes.level, way);
  const double v = along(axes.down, way);
  const double w = along(axes.normal, way);
  const double radius = body.radius.value;
  switch (body.kind) {
    case BodyKind::sphere:
      return std::abs(std::hypot(u, v, w) - radius);
    case BodyKind::cylinder:
      return std::hypot(std::hypot(v, w) - radius, std::max(0.0, std::abs(u) - 0.5 * body.length.value));
    case BodyKind::disc:
      return std::hypot(std::max(0.0, std::hypot(u, v) - radius), w);
    case BodyKind::plate:
      break;
  }
  return std::hypot(std::max(0.0, std::abs(u) - 0.5 * body.length.value), std::max(0.0, std::abs(v) - 0.5 * body.height.value),
                    w);
}

/// How far the body goes from its centre along an axis of the part, at most.
double reach_along(const Body& body, std::size_t axis) {
  const BodyAxes axes = axes_of(body);
  if (body.kind == BodyKind::plate)
    return 0.5 * (std::abs(axes.level[axis]) * body.length.value + std::abs(axes.down[axis]) * body.height.value);
  if (body.kind == BodyKind::disc) return body.radius.value * std::sqrt(1.0 - axes.normal[axis] * axes.normal[axis]);
  return body.radius.value + (body.kind == BodyKind::cylinder ? 0.5 * std::abs(axes.level[axis]) * body.length.value : 0.0);
}

/// The same settings on a part of the grid, every axis with an eighth of a millimetre between pixels.
Configuration with_grid_about(const Configuration& configuration, const std::array<double, 3>& centre,
                              const std::array<double, 3>& reach) {
  Configuration near = configuration;
  const auto range = [&](std::size_t axis) {
    return std::array{Metres(centre[axis] - reach[axis]), Metres(centre[axis] + reach[axis])};
  };
  const auto count = [&](std::size_t axis) { return static_cast<std::size_t>(std::lround(2.0 * reach[axis] / 0.125e-3)) + 1; };
  near.grid.x = range(0);
  near.grid.z = range(2);
  near.grid.pixels = {count(0), count(2)};
  if (configuration.grid.pixels.y > 1) {
    near.grid.y = range(1);
    near.grid.pixels = {count(0), count(1), count(2)};
  }
  return near;
}

class SimulatedExamples : public testing::TestWithParam<std::string> {};

TEST_P(SimulatedExamples, ShowTheirScatterersInEveryView) {
  Configuration configuration = load_configuration(test::source_directory() / "examples" / (GetParam() + ".toml"));
  configuration.imaging.backend = BackendWish::cpu;
  if (configuration.imaging.method != "tfm") GTEST_SKIP() << "an example of another method, which has its own test";
  const SimulatorConfiguration source = simulator_configuration(configuration);
  std::optional<test::SourceFrame> frame;
  std::optional<FrameCycle> positions;
  if (scans(configuration)) {
    positions.emplace(simulated_source(configuration));
  } else {
    frame = test::frame_of(source);
  }
  ASSERT_FALSE(source.phantom.points.empty() && source.phantom.bodies.empty());
  const bool volume = configuration.grid.pixels.y > 1;
  const std::array grid{configuration.grid.x, configuration.grid.y, configuration.grid.z};
  std::vector<float> strongest(tfm(configuration).views.size(), 0.0F);
  std::vector<std::vector<float>> peaks(strongest.size());
  for (const TruePosition& truth : true_positions(source.phantom, 0.0)) {
    if (truth.kind != ReflectorKind::point && truth.kind != ReflectorKind::body) continue;
    const Body* body = nullptr;
    for (const Body& each : source.phantom.bodies) {
      if (truth.kind == ReflectorKind::body && each.name == truth.name) body = &each;
    }
    const std::array<double, 3> centre{truth.centre.x.value, truth.centre.y.value, truth.centre.z.value};
    // Around it alone, so that a test of every example takes seconds.
    std::array<double, 3> reach{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      reach[axis] = 1e-3 + (body != nullptr ? reach_along(*body, axis) : 0.0);
      if (!grid[axis] || (axis == 1 && !volume)) continue;
      const double half = body != nullptr ? reach_along(*body, axis) : 0.0;
      ASSERT_LT((*grid[axis])[0].value, centre[axis] - half) << truth.name;
      ASSERT_GT((*grid[axis])[1].value, centre[axis] + half) << truth.name;
    }
    const Configuration near = with_grid_about(configuration, centre, reach);
    const test::ImagedScene imaged = positions ? test::image_scan(near, *positions) : test::image_scene(near, *frame);
    for (std::size_t view = 0; view < strongest.size(); ++view) {
      const std::string& name = imaged.plan->laws[view].view;
      const test::ScenePeak peak = test::peak_of(imaged, view, centre[0], centre[2], std::max(reach[0], reach[2]));
      const std::array<double, 3> off{peak.x - centre[0], peak.y - centre[1], peak.z - centre[2]};
      std::printf("%-24s %-6s (%6.2f, %5.2f) mm: off by (%5.2f, %5.2f, %5.2f) mm, %.2e\n", GetParam().c_str(), name.c_str(),
                  1e3 * centre[0], 1e3 * centre[2], 1e3 * off[0], 1e3 * off[1], 1e3 * off[2], static_cast<double>(peak.value));
      const double distance = body != nullptr ? distance_to_surface(*body, off) : std::hypot(off[0], off[1], off[2]);
      EXPECT_LE(distance, test::quarter_wavelength(*imaged.plan, name)) << name << ' ' << truth.name;
      // Curved ones are seen from above.
      if (body != nullptr && (body->kind == BodyKind::sphere || body->kind == BodyKind::cylinder)) {
        EXPECT_LT(off[2], 0.0) << truth.name;
      }
      strongest[view] = std::max(strongest[view], peak.value);
      peaks[view].push_back(peak.value);
    }
  }
  for (std::size_t view = 0; view < strongest.size(); ++view) {
    for (const float peak : peaks[view]) {
      EXPECT_GT(peak, std::pow(10.0, -section<OutputSection>(configuration).dynamic_range_db / 20.0) * strongest[view])
          << "on one display";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SimulatedExamples, testing::ValuesIn(example_names()), [](const auto& name) { return name.param; });

TEST(ScanExamples, ShowTheWholeOfThePipe) {
  Configuration configuration = load_configuration(test::source_directory() / "examples" / "pipe_scan.toml");
  configuration.imaging.backend = BackendWish::cpu;
  const auto setup =
      resolve_imaging({.configuration = configuration, .acquisition = acquisition_of(simulated_source(configuration))});
  // Both walls, above and below the axis, all round.
  ASSERT_EQ(setup->outlines.size(), 4U);
  for (std::size_t k = 0; k < setup->outlines.size(); ++k) {
    const Outline& outline = setup->outlines[k];
    const float radius = outline.name == "surface" ? 0.040F : 0.028F;
    const float below = k < 2 ? -1.0F : 1.0F;
    EXPECT_NEAR(std::abs(outline.x.front()), radius, 1e-6F) << outline.name;
    EXPECT_NEAR(std::abs(outline.x.back()), radius, 1e-6F) << outline.name;
    for (std::size_t p = 0; p < outline.x.size(); ++p) {
      EXPECT_NEAR(std::hypot(outline.x[p], outline.z[p] - 0.040F), radius, 1e-4F);
      EXPECT_GE(below * (outline.z[p] - 0.040F), -1e-6F);
    }
  }
}

TEST(ScanExamples, ShowNothingOfThePipeButItsPoints) {
  Configuration configuration = load_configuration(test::source_directory() / "examples" / "pipe_scan.toml");
  configuration.imaging.backend = BackendWish::cpu;
  FrameCycle positions(simulated_source(configuration));
  const test::ImagedScene imaged = test::image_scan(configuration, positions);
  const std::vector<PointScatterer> points = simulator_configuration(configuration).phantom.points;
  ASSERT_EQ(points.size(), 6U);
  float least_point = 1.0F;
  for (const PointScatterer& point : points)
    least_point = std::min(least_point, test::peak_of(imaged, 0, point.centre.x.value, point.centre.z.value, 0.5e-3).value);
  float elsewhere = 0.0F;
  for (std::size_t pixel = 0; pixel < imaged.envelopes[0].size(); ++pixel) {
    const Point at = imaged.plan->grid.at(pixel);
    // Two wavelengths: a point's own spread.
    const bool near = std::ranges::any_of(points, [&](const PointScatterer& point) {
      return std::hypot((at.x - point.centre.x).value, (at.z - point.centre.z).value) < 2.5e-3;
    });
    const float value = imaged.envelopes[0][pixel];
    if (!near && value > elsewhere) elsewhere = value;
  }
  RecordProperty("decibels", std::to_string(20.0F * std::log10(elsewhere / least_point)));
  EXPECT_LT(elsewhere, 0.2F * least_point) << "false reflectors";
}

}  // namespace
}  // namespace echoform
