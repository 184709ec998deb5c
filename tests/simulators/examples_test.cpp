// Every example can be run live: its own simulated source, imaged by its own settings, shows its scatterers in every view.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

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
  ASSERT_FALSE(source.phantom.points.empty());
  std::vector<float> strongest(tfm(configuration).views.size(), 0.0F);
  std::vector<std::vector<float>> peaks(strongest.size());
  for (const TruePosition& truth : true_positions(source.phantom, 0.0)) {
    if (truth.kind != ReflectorKind::point) continue;
    const double x = truth.centre.x.value;
    const double y = truth.centre.y.value;
    const double z = truth.centre.z.value;
    ASSERT_TRUE(!configuration.grid.x || ((*configuration.grid.x)[0].value < x && x < (*configuration.grid.x)[1].value));
    ASSERT_TRUE(!configuration.grid.z || ((*configuration.grid.z)[0].value < z && z < (*configuration.grid.z)[1].value));
    // Around it alone, so that a test of every example takes seconds; an eighth of a millimetre between pixels.
    Configuration near = configuration;
    near.grid.x = {Metres(x - 1e-3), Metres(x + 1e-3)};
    near.grid.z = {Metres(z - 1e-3), Metres(z + 1e-3)};
    near.grid.pixels = {17, 17};
    if (configuration.grid.pixels.y > 1) {
      ASSERT_TRUE(!configuration.grid.y || ((*configuration.grid.y)[0].value < y && y < (*configuration.grid.y)[1].value));
      near.grid.y = std::array{Metres(y - 1e-3), Metres(y + 1e-3)};
      near.grid.pixels = {17, 17, 17};
    }
    const test::ImagedScene imaged = positions ? test::image_scan(near, *positions) : test::image_scene(near, *frame);
    for (std::size_t view = 0; view < strongest.size(); ++view) {
      const std::string& name = imaged.plan->laws[view].view;
      const test::ScenePeak peak = test::peak_of(imaged, view, x, z, 1e-3);
      std::printf("%-24s %-6s (%6.2f, %5.2f) mm: off by (%5.2f, %5.2f, %5.2f) mm, %.2e\n", GetParam().c_str(), name.c_str(),
                  1e3 * x, 1e3 * z, 1e3 * (peak.x - x), 1e3 * (peak.y - y), 1e3 * (peak.z - z), static_cast<double>(peak.value));
      EXPECT_LE(std::hypot(peak.x - x, peak.y - y, peak.z - z), test::quarter_wavelength(*imaged.plan, name))
          << name << ' ' << truth.name;
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

}  // namespace
}  // namespace echoform
