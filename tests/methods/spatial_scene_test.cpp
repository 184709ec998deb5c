// Front surfaces in three dimensions as a configuration states them: plans, outlines, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/errors.hpp"
#include "methods/tfm/build_plan.hpp"
#include "methods/tfm/report.hpp"
#include "methods/tfm/scene.hpp"
#include "settings/reader.hpp"
#include "tests/support/input_error.hpp"

// A namespace of its own: other files of this program parse scenes too.
namespace echoform::spatial_scene {
namespace {

using ::testing::HasSubstr;

const Material aluminium{MetresPerSecond(6320.0), MetresPerSecond(3130.0)};
const std::string wet = "[couplant]\nvelocity = 1480\n[imaging]\ndelay_law = \"immersion\"\n[probe]\nstand_off = 0.01\n";
const std::string image = "[grid]\nx = [-0.004, 0.004]\nz = [0.004, 0.02]\npixels = [9, 5]\ny = 0.002\n";
const std::string volume = "[grid]\nx = [-0.004, 0.004]\ny = [-0.003, 0.005]\nz = [0.004, 0.02]\npixels = [5, 3, 4]\n";

Configuration configuration_of(const std::string& text) {
  return parse_configuration(text, "part.toml");
}

std::shared_ptr<const ImagingPlan> planned(const std::string& text, const std::string& views = "") {
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(6, Metres(1e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  acquisition.samples = 2000;
  acquisition.sample_rate = Hertz(50e6);
  std::string whole = wet;
  if (!views.empty()) whole.insert(whole.find("[probe]"), "views = " + views + "\n");
  return build_plan(configuration_of(whole + text), acquisition, aluminium);
}

std::string refused(const std::string& text, const std::string& views = "") {
  return test::input_error([&] { static_cast<void>(planned(text, views)); });
}

TEST(SpatialScene, HoldsTheKindsOfSurfaces) {
  const Scene ball = make_scene(configuration_of("[surface]\nkind = \"sphere\"\nradius = 0.02\ny = 0.003\nz = 0.001\n"));
  ASSERT_NE(ball.spatial_surface, nullptr);
  EXPECT_EQ(ball.surface, nullptr);
  EXPECT_NEAR(ball.below_front({Metres(0.0), Metres(0.003), Metres(0.006)}), 5e-3, 1e-12);
  EXPECT_NEAR(ball.below_front({Metres(0.03), Metres(0.003), Metres(0.021)}), -10e-3, 1e-12);
  const Scene plane = make_scene(configuration_of("[surface]\nkind = \"plane\"\nangle_across = 45\n"));
  ASSERT_NE(plane.spatial_surface, nullptr);
  EXPECT_NEAR(plane.below_front({Metres(0.01), Metres(0.004), Metres(0.006)}), 2e-3 / std::sqrt(2.0), 1e-12);
  // Along x, and down by nothing.
  const Scene rod = make_scene(configuration_of("[surface]\nkind = \"cylinder\"\nradius = 0.02\nturn = 90\ny = 0.001\n"));
  ASSERT_NE(rod.spatial_surface, nullptr);
  EXPECT_NEAR(rod.below_front({Metres(0.03), Metres(0.001), Metres(0.003)}), 3e-3, 1e-12);
  EXPECT_NEAR(rod.below_front({Metres(0.0), Metres(0.026), Metres(0.02)}), -5e-3, 1e-12);
}

TEST(SpatialScene, TheOutlineIsTheSectionWithThePlaneOfTheImage) {
  const std::string ball = "[surface]\nkind = \"sphere\"\nradius = 0.03\nx = 0.001\n";
  for (const auto& [grid, y] : {std::pair{image, 2e-3}, std::pair{volume, 1e-3}}) {
    const auto plan = planned(grid + ball);
    ASSERT_EQ(plan->outlines.size(), 2U);
    const Outline& outline = plan->outlines[1];
    EXPECT_EQ(outline.name, "surface");
    ASSERT_GT(outline.x.size(), 100U);
    // A quarter beside the grid, which is as wide as the probe or wider.
    EXPECT_NEAR(outline.x.front(), -6e-3, 1e-7);
    EXPECT_NEAR(outline.x.back(), 6e-3, 1e-7);
    for (std::size_t k = 0; k < outline.x.size(); ++k) {
      // Single precision of places up to 30 mm.
      EXPECT_NEAR(std::hypot(outline.x[k] - 1e-3, y, outline.z[k] - 0.03), 0.03, 1e-8) << k;
    }
  }
}

TEST(SpatialScene, OutlinesEndWhereTheSurfaceDoes) {
  const auto plan = planned(image + "[surface]\nkind = \"sphere\"\nradius = 0.004\nx = 0.001\ny = 0.002\n");
  ASSERT_EQ(plan->outlines.size(), 2U);
  const Outline& outline = plan->outlines[1];
  EXPECT_NEAR(outline.x.front(), -3e-3, 5e-5);
  EXPECT_NEAR(outline.x.back(), 5e-3, 5e-5);
}

TEST(SpatialScene, AWholePlanIsMadeAndReported) {
  for (const char* const front : {"kind = \"sphere\"\nradius = 0.03\n", "kind = \"plane\"\nangle_across = 5\n",
                                  "kind = \"cylinder\"\nradius = 0.03\nturn = 30\ndip = 4\n"}) {
    for (const std::string& grid : {image, volume}) {
      const auto plan = planned(grid + "[apodization]\ndirectivity = true\n[surface]\n" + front, "[\"LL\", \"LT\"]");
      EXPECT_TRUE(plan->warnings.empty() || plan->warnings.front().find("[surface]") == std::string::npos);
      const SetupReport report = report_plan(*plan);
      EXPECT_NEAR(report.values["pitch_per_wavelength"]["couplant"].get<double>(), 1e-3 / (1480.0 / 5e6), 1e-9) << front;
    }
  }
}

TEST(SpatialScene, ViewsSkipAtBackwallsInThreeDimensions) {
  // Few pixels, each of which takes a search over both surfaces: what is looked at here is a plan's, not theirs.
  const std::string few = "[grid]\nx = [-0.004, 0.004]\nz = [0.004, 0.02]\npixels = [3, 2]\ny = 0.002\n";
  const std::string few_of_a_volume = "[grid]\nx = [-0.004, 0.004]\ny = [-0.003, 0.005]\nz = [0.004, 0.02]\npixels = [2, 2, 2]\n";
  for (const char* const front : {"", "[surface]\nkind = \"sphere\"\nradius = 0.05\n"}) {
    for (const char* const back :
         {"kind = \"plane\"\nz = 0.025\nangle_across = 5\n", "kind = \"sphere\"\nradius = 0.03\nz = 0.024\n",
          "kind = \"cylinder\"\nradius = 0.06\nz = 0.025\nturn = 30\nside = \"inside\"\n"}) {
      for (const std::string& grid : {few, few_of_a_volume}) {
        const auto plan = planned(grid + "[apodization]\ndirectivity = true\n" + front + "[backwall]\n" + back,
                                  "[\"LL\", \"LL-L\", \"TT-TT\"]");
        ASSERT_EQ(plan->outlines.size(), 3U) << front << back;
        const Outline& outline = plan->outlines[2];
        EXPECT_EQ(outline.name, "backwall");
        for (const float z : outline.z) EXPECT_NEAR(z, 0.025, 2.5e-3) << back;
        EXPECT_NEAR(report_plan(*plan).values["pitch_per_wavelength"]["couplant"].get<double>(), 1e-3 / (1480.0 / 5e6), 1e-9);
      }
    }
  }
}

TEST(SpatialScene, WhatDoesNotGoIsSaidInOneLine) {
  EXPECT_EQ(
      refused(image + "[backwall]\nkind = \"sphere\"\nradius = 0.03\nz = -0.003\n"),
      "part.toml: [backwall]: found a place above the front surface, at (-4, -2.665) mm; expected a backwall below the front "
      "surface");
  // A hollow around the probe whose crown lies below the front, but whose walls come up within the grid.
  EXPECT_EQ(
      refused(image + "[backwall]\nkind = \"sphere\"\nradius = 0.006\nz = 0.001\nside = \"inside\"\n"),
      "part.toml: [backwall]: found a place above the front surface, at (-3.578, -0.5279) mm; expected a backwall below the "
      "front surface");
  EXPECT_THAT(refused(volume + "[surface]\nkind = \"cylinder\"\nradius = 0.03\n[backwall]\nkind = \"cylinder\"\nradius = "
                               "0.006\nz = 0.001\nturn = 20\nside = \"inside\"\n"),
              HasSubstr("[backwall]: found a place above the front surface, at ("));
  EXPECT_THAT(refused(image + "[surface]\nkind = \"sphere\"\nradius = 0.03\nz = -0.011\n"),
              HasSubstr("below the front surface; expected a probe above the front surface"));
  EXPECT_THAT(refused(image + "[surface]\nkind = \"sphere\"\nradius = 0.03\nz = 0.1\n"),
              HasSubstr("[grid]: found no pixel in the part"));
  EXPECT_THAT(refused(image + "[surface]\nkind = \"sphere\"\nradius = 0.03\nturn = 3\n"),
              HasSubstr("[surface] turn: found a key for kind = \"sphere\""));
}

TEST(SpatialScene, InterpolatedTimesAreSaidNotToBeUsed) {
  const auto plan = planned(image + "[surface]\nkind = \"sphere\"\nradius = 0.03\n");
  Configuration configuration = configuration_of("[imaging]\ntravel_times = \"interpolated\"\n");
  const auto lines = geometry_warnings(configuration, *plan, plan->scene);
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.front(),
            "part.toml: [imaging] travel_times: \"interpolated\" is not used: below a surface in three dimensions every element "
            "and pixel has its ray");
  const auto above_ball = planned(image + "[backwall]\nkind = \"sphere\"\nradius = 0.03\nz = 0.03\n");
  EXPECT_THAT(geometry_warnings(configuration, *above_ball, above_ball->scene),
              testing::Not(testing::Contains(HasSubstr("travel_times"))));
  configuration = configuration_of("[imaging]\ntravel_times = \"interpolated\"\nviews = [\"LL\", \"TT-T\"]\n");
  const auto above = geometry_warnings(configuration, *above_ball, above_ball->scene);
  ASSERT_FALSE(above.empty());
  EXPECT_EQ(above.front(),
            "part.toml: [imaging] travel_times: \"interpolated\" is not used by views that skip: above a backwall in three "
            "dimensions every element and pixel has its ray");
}

}  // namespace
}  // namespace echoform::spatial_scene
