// What settings of scan lines are refused, warned of or changed while frames run.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <string>
#include <string_view>

#include "base/errors.hpp"
#include "methods/registry.hpp"
#include "settings/reader.hpp"
#include "tests/simulators/imaged.hpp"
#include "tests/support/input_error.hpp"

namespace echoform {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

/// Plane waves of even angles from -30 to 30 degrees at 1540 m/s, 12.8 us of them.
Configuration plane_sector(std::string_view beams, std::string_view material = "1540.0", std::string_view imaging = "") {
  return parse_configuration(fmt::format(R"(
[imaging]
method = "beams"
backend = "cpu"
{}
[material]
longitudinal_velocity = {}
[beams]
{}
[filter]
kind = "none"
[simulator]
elements = 8
pitch = 0.3e-3
element_width = 0.25e-3
centre_frequency = 2.5e6
sample_rate = 20e6
samples = 256
longitudinal_velocity = 1540.0
transmit = "plane"
events = 31
angles = [-30.0, 30.0]
)",
                                         imaging, material, beams),
                             "sector.toml");
}

std::shared_ptr<const ImagingSetup> resolved(const Configuration& configuration) {
  const SimulatorConfiguration source = simulated_source(plane_sector(""));
  return resolve_imaging({.configuration = configuration,
                          .acquisition = FmcSimulator(source).acquisition(),
                          .stated = {source.material, {}},
                          .wish = {}});
}

std::string refusal(const Configuration& configuration) {
  return test::input_error([&] { static_cast<void>(resolved(configuration)); });
}

TEST(ScanLineSettings, LinesThatMemoryDoesNotHoldAreRefusedBeforeTheyAreMade) {
  // 31 * 16 lines of 65535 ranges, 36 bytes each at least.
  EXPECT_THAT(
      refusal(plane_sector("lines = 16\nranges = 65535", "1540.0", "memory_limit = 1e9")),
      StartsWith("sector.toml: [beams] ranges: found 496 lines of 65535 ranges with 8 elements, which need 1.17 GB; expected "
                 "a plan that fits into 1.00 GB ([imaging] memory_limit)"));
  // Stages and frames need more than the lines alone: 31 * 256 points of 36 bytes are 0.29 MB.
  EXPECT_THAT(refusal(plane_sector("", "1540.0", "memory_limit = 4e5")),
              HasSubstr("[beams] ranges: found 31 lines of 256 ranges with 8 elements, which need"));
  EXPECT_EQ(refusal(plane_sector("", "1540.0", "memory_limit = 1e9")), "");
}

TEST(ScanLineSettings, DepthsThatAreNotThereAreWarnedOf) {
  EXPECT_THAT(resolved(plane_sector(""))->warnings, IsEmpty());
  EXPECT_THAT(resolved(plane_sector("depth = [0.001, 0.0095]"))->warnings, IsEmpty());
  // 256 samples at 20 MHz end with echoes from 9.817 mm.
  EXPECT_THAT(resolved(plane_sector("depth = [0.0, 0.02]"))->warnings,
              ElementsAre("[beams] depth goes to 19.98 mm, and A-scans end with echoes from 9.817 mm: nothing is shown beyond"));
  // A sample is 38.5 um of a line.
  EXPECT_THAT(resolved(plane_sector("depth = [0.0, 5.0]", "1540.0", "memory_limit = 1e9"))->warnings,
              ElementsAre(StartsWith("lines end at 2523 mm, not at 5000 mm, after 65535 ranges of a sample each"),
                          HasSubstr("goes to 2523 mm")));
}

TEST(ScanLineSettings, PlaneWavesFollowTheVelocityAndStayAFan) {
  for (const char* const velocity : {"1400.0", "1540.0", "1680.0"}) {
    const auto setup = resolved(plane_sector("", velocity));
    const Grid& grid = setup->recipe.outputs.front().description.grid;
    const double sine = 0.5 * setup->material.longitudinal_velocity.value / 1540.0;
    EXPECT_NEAR(grid.z.last.value, std::asin(sine), 1e-9) << velocity;
    EXPECT_EQ(grid.z.count, 31U);
  }
}

TEST(ScanLineSettings, GainsAndSharesChangeWhileFramesRun) {
  const auto before = resolved(plane_sector(""));
  const Method& method = *find_method("beams");
  // The same steps: their stages say whether they take the change.
  EXPECT_NE(method.retuned(*before, plane_sector("time_gain = [0.0, 20.0]"), 2), nullptr);
  // A step more: everything is made anew.
  EXPECT_EQ(method.retuned(*before, plane_sector("persistence = 0.5"), 2), nullptr);
  const auto faded = resolved(plane_sector("persistence = 0.5"));
  EXPECT_NE(method.retuned(*faded, plane_sector("persistence = 0.7"), 2), nullptr);
  EXPECT_EQ(test::input_error([&] { static_cast<void>(method.retuned(*before, plane_sector("time_gain_depths = [0.0]"), 2)); }),
            "sector.toml: [beams] time_gain_depths: found 1 of them; expected 0, one for each gain, or none");
}

}  // namespace
}  // namespace echoform
