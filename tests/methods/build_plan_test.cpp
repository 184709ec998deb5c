#include "methods/tfm/build_plan.hpp"
#include "methods/display_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "base/errors.hpp"
#include "config/memory_limit.hpp"
#include "methods/overrides.hpp"
#include "methods/tfm/section.hpp"
#include "methods/tfm/simulated_scene.hpp"
#include "settings/reader.hpp"
#include "simulators/simulator_section.hpp"
#include "tests/methods/host_bytes.hpp"
#include "tests/methods/small_arrays.hpp"
#include "tests/support/input_error.hpp"

namespace echoform {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// 16 elements of 1 mm pitch; 501 samples at 10 MHz from 10 us: the gate is 10 .. 60 us.
Acquisition example() {
  Acquisition acquisition = test::frames_of(make_linear_probe(16, Metres(1e-3), Metres(0.8e-3), Hertz(2e6), Hertz(1e6)), 501,
                                            Hertz(10e6), Seconds(10e-6));
  acquisition.encoding = SampleEncoding::float32;
  return acquisition;
}
const Material steel{MetresPerSecond(6000.0), MetresPerSecond(3000.0)};

std::string fault_of(const Configuration& configuration, const Acquisition& acquisition, const Material& material = steel) {
  return test::input_error([&] { static_cast<void>(build_plan(configuration, acquisition, material)); });
}

TEST(Plan, GridFollowsFromApertureAndGate) {
  const auto plan = build_plan({}, example(), steel);
  // Aperture: 15 pitches, centred. Depth: z = t c / 2 at 10 and 60 us. Tolerance: rounding of a few products.
  EXPECT_NEAR(plan->grid.x.first.value, -7.5e-3, 1e-15);
  EXPECT_NEAR(plan->grid.x.last.value, 7.5e-3, 1e-15);
  EXPECT_NEAR(plan->grid.z.first.value, 30e-3, 1e-15);
  EXPECT_NEAR(plan->grid.z.last.value, 180e-3, 1e-15);
  EXPECT_EQ(plan->grid.pixels(), 256u * 256u);
  EXPECT_FALSE(plan->display_grid);
}

/// All elements in turn from the last on, each received by the first `receivers`.
Acquisition received_by_first(std::uint32_t receivers) {
  Acquisition frames = example();
  std::vector<std::uint32_t> order(frames.elements());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<std::uint32_t>(order.size() - 1 - k);
  frames.events = element_events(order);
  for (TransmitEvent& event : frames.events) {
    for (std::uint32_t element = 0; element < receivers; ++element) event.receivers.push_back(element);
  }
  return frames;
}

TEST(Plan, RowsThatWereNotReceivedAreCountedTooWhereMostWere) {
  const Acquisition all = received_by_first(16);
  const Acquisition most = received_by_first(9);
  Configuration configuration;
  configuration.grid.pixels = {8, 8};
  tfm(configuration).views = {"LT"};  // which tells directions apart, so that none are added
  const double received = static_cast<double>(all.frame_bytes() - most.frame_bytes());
  EXPECT_NEAR(test::host_bytes(build_plan(configuration, all, steel)) - test::host_bytes(build_plan(configuration, most, steel)),
              received, 1.0)
      << "what is on its way to the image has a row for every pair";
}

TEST(Plan, RowsThatWereNotReceivedTakeNothingWhereFewWere) {
  const Acquisition one = received_by_first(1);
  const Acquisition two = received_by_first(2);
  Configuration configuration;
  configuration.grid.pixels = {8, 8};
  tfm(configuration).views = {"LT"};
  // 501 float samples, and what is made of them for each row: pairs of floats, of twice as many bytes.
  const double received = static_cast<double>(two.frame_bytes() - one.frame_bytes());
  const double more =
      test::host_bytes(build_plan(configuration, two, steel)) - test::host_bytes(build_plan(configuration, one, steel));
  EXPECT_GE(more, 3.0 * received);
  EXPECT_LT(4.0 * test::host_bytes(build_plan(configuration, one, steel)),
            test::host_bytes(build_plan(configuration, received_by_first(16), steel)));
}

TEST(Plan, SparseFiringsAreImagedAsTheProbeThatTheyAreOf) {
  Acquisition sparse = example();
  sparse.events = element_events(std::vector<std::uint32_t>{3, 11});
  const auto plan = build_plan({}, sparse, steel);
  EXPECT_EQ(plan->grid, build_plan({}, example(), steel)->grid);
  EXPECT_EQ(plan->acquisition.events, sparse.events);
  EXPECT_EQ(plan->laws[0].receive->sources(), example().elements());
}

TEST(Plan, TimeOffsetAndModeShiftTheDefaultGate) {
  Configuration configuration;
  tfm(configuration).views = {"LT"};
  configuration.acquisition.time_offset = Seconds(1e-6);
  const auto plan = build_plan(configuration, example(), steel);
  // z = t / (1 / 6000 + 1 / 3000) = 2000 t at 9 and 59 us.
  EXPECT_NEAR(plan->grid.z.first.value, 18e-3, 1e-15);
  EXPECT_NEAR(plan->grid.z.last.value, 118e-3, 1e-15);
}

TEST(Plan, AGateFromZeroBeginsOnePixelBelowTheSurface) {
  Acquisition acquisition = example();
  acquisition.start_time = Seconds(-1e-6);
  const auto plan = build_plan({}, acquisition, steel);
  EXPECT_NEAR(plan->grid.z.last.value, 49e-6 * 3000.0, 1e-15);
  EXPECT_NEAR(plan->grid.z.first.value, plan->grid.z.last.value / 256.0, 1e-15);
}

TEST(Plan, OnePixelLiesInTheMiddleOfApertureAndGate) {
  Configuration configuration;
  configuration.grid.pixels = {1, 1};
  for (const double opens : {10e-6, 0.0, -1e-6}) {
    Acquisition acquisition = example();
    acquisition.start_time = Seconds(opens);
    const auto plan = build_plan(configuration, acquisition, steel);
    EXPECT_EQ(plan->grid.x.first.value, 0.0);
    EXPECT_NEAR(plan->grid.z.first.value, 1500.0 * (std::max(opens, 0.0) + opens + 50e-6), 1e-15);
    EXPECT_EQ(plan->grid.z.first, plan->grid.z.last);
  }
}

TEST(Plan, ASingleElementGetsAWidthToLookAt) {
  Acquisition acquisition = example();
  acquisition.probe.elements.resize(1);
  const auto plan = build_plan({}, acquisition, steel);
  EXPECT_LT(plan->grid.x.first, plan->grid.x.last);
}

TEST(Plan, DisplayGridOnlyWhereItDiffers) {
  Configuration configuration;
  section<DisplaySection>(configuration).pixels = {256, 256};
  EXPECT_FALSE(build_plan(configuration, example(), steel)->display_grid);
  section<DisplaySection>(configuration).pixels = {64, 32};
  const auto plan = build_plan(configuration, example(), steel);
  ASSERT_TRUE(plan->display_grid);
  EXPECT_EQ(plan->display_grid->x.count, 64u);
  EXPECT_EQ(plan->display_grid->x.first, plan->grid.x.first);
}

TEST(Plan, OverridesReplaceAndSaySo) {
  Configuration configuration = parse_configuration(R"(
[material]
longitudinal_velocity = 5900
[probe]
pitch = 0.5e-3
centre_frequency = 2e6
dead_elements = [2]
[acquisition]
sample_rate = 20e6
)",
                                                    "scan.toml");
  Acquisition acquisition = example();
  acquisition.probe.elements[1].dead = true;
  Material material = steel;
  std::vector<std::string> notes;
  apply_overrides(configuration, acquisition, material, notes);
  EXPECT_EQ(material.longitudinal_velocity.value, 5900.0);
  EXPECT_EQ(material.shear_velocity.value, 3000.0) << "what is not set stays";
  EXPECT_NEAR((acquisition.probe.elements[1].centre.x - acquisition.probe.elements[0].centre.x).value, 0.5e-3, 1e-15);
  EXPECT_EQ(acquisition.probe.elements[0].width.value, 0.8e-3);
  EXPECT_FALSE(acquisition.probe.elements[1].dead);
  EXPECT_TRUE(acquisition.probe.elements[2].dead);
  EXPECT_EQ(acquisition.sample_rate.value, 20e6);
  EXPECT_THAT(notes, ElementsAre("scan.toml: [material] longitudinal_velocity = 5900 m/s replaces 6000 m/s of the data",
                                 "scan.toml: [probe] pitch = 0.5 mm replaces the element positions of the data",
                                 "scan.toml: [probe] dead_elements = [2] replaces the dead elements of the data",
                                 "scan.toml: [acquisition] sample_rate = 20 MHz replaces 10 MHz of the data"))
      << "one line each, and none for the centre frequency, which is the same";
}

TEST(Plan, TheSampleScaleIsOfImagingAndTheDataKeepTheirs) {
  Configuration configuration;
  configuration.acquisition.sample_scale = 0.5;
  Acquisition acquisition = example();
  acquisition.sample_scale = 0.125;
  const auto plan = build_plan(configuration, acquisition, steel);
  EXPECT_EQ(plan->amplitude_scale(), 0.5) << "replaces, and does not multiply";
  EXPECT_EQ(plan->acquisition.sample_scale, 0.125) << "what the recorder writes beside the samples as they came";
  acquisition.encoding = SampleEncoding::float32;
  EXPECT_EQ(build_plan(configuration, acquisition, steel)->amplitude_scale(), 0.5);
  configuration.acquisition.sample_scale.reset();
  EXPECT_EQ(build_plan(configuration, acquisition, steel)->amplitude_scale(), 1.0);
}

TEST(Plan, MatrixKindMayOnlyChangeBetweenHalves) {
  Configuration configuration;
  configuration.acquisition.matrix = MatrixKind::half_summed;
  Acquisition acquisition = example();
  EXPECT_EQ(fault_of(configuration, acquisition),
            "configuration: [acquisition] matrix: found \"half_summed\" for data that is a full matrix; expected no such key, or "
            "half-matrix data");
  acquisition.matrix = MatrixKind::half;
  EXPECT_EQ(build_plan(configuration, acquisition, steel)->acquisition.matrix, MatrixKind::half_summed);
}

TEST(Plan, DeadElementsMustExist) {
  Configuration configuration;
  configuration.probe.dead_elements = {16};
  EXPECT_EQ(fault_of(configuration, example()),
            "configuration: [probe] dead_elements: found element 16; expected 0 to 15, as the data has 16 elements");
}

TEST(Plan, MissingVelocityNamesTheKey) {
  Configuration configuration;
  EXPECT_THAT(fault_of(configuration, example(), {}),
              HasSubstr("[material] longitudinal_velocity: found none; expected a positive velocity"));
  tfm(configuration).views = {"TT"};
  EXPECT_THAT(fault_of(configuration, example(), {MetresPerSecond(6000.0), MetresPerSecond(0.0)}),
              HasSubstr("[material] shear_velocity"));
}

TEST(Plan, UnknownLawAndViewListWhatThereIs) {
  Configuration configuration;
  tfm(configuration).delay_law = "immersion2";
  EXPECT_THAT(fault_of(configuration, example()),
              HasSubstr("configuration: [imaging] delay_law: found \"immersion2\"; expected one of: contact"));
  configuration = {};
  tfm(configuration).views = {"LX"};
  EXPECT_THAT(fault_of(configuration, example()), HasSubstr("found \"LX\"; expected LL, LT, TL or TT"));
  tfm(configuration).views = {"LL", "LL"};
  EXPECT_EQ(fault_of(configuration, example()), "configuration: [imaging] views: found \"LL\" twice; expected each view once");
}

TEST(Plan, ReversedGridIsRefused) {
  Configuration configuration;
  configuration.grid.x = {Metres(0.01), Metres(-0.01)};
  EXPECT_EQ(fault_of(configuration, example()), "configuration: [grid] x: found [0.01, -0.01] m; expected first < last");
}

TEST(Plan, OnePixelNeedsEqualEnds) {
  Configuration configuration;
  configuration.grid.pixels = {1, 16};
  EXPECT_EQ(build_plan(configuration, example(), steel)->grid.x.count, 1u) << "the default is the aperture's middle";
  configuration.grid.x = {Metres(-0.01), Metres(0.01)};
  EXPECT_THAT(fault_of(configuration, example()),
              HasSubstr("configuration: [grid] x: found one pixel over [-0.01, 0.01] m; expected equal ends for one pixel"));
}

/// The example with its elements in rows of four.
Acquisition matrix_example() {
  Acquisition acquisition = example();
  acquisition.probe = make_matrix_probe({.columns = 4,
                                         .rows = 4,
                                         .pitch = Metres(1e-3),
                                         .row_pitch = Metres(1.5e-3),
                                         .width = Metres(0.5e-3),
                                         .length = Metres(0.5e-3)},
                                        Hertz(5e6), Hertz(3e6));
  return acquisition;
}

TEST(Plan, AVolumeIsAsWideAsTheApertureWhereNothingIsSaid) {
  Configuration configuration;
  configuration.grid.pixels = {8, 6, 10};
  const Grid grid = build_plan(configuration, matrix_example(), steel)->grid;
  // Rounding of a few products.
  EXPECT_NEAR(grid.x.first.value, -1.5e-3, 1e-15);
  EXPECT_NEAR(grid.y.first.value, -2.25e-3, 1e-15);
  EXPECT_NEAR(grid.y.last.value, 2.25e-3, 1e-15);
  EXPECT_EQ(std::tuple(grid.x.count, grid.y.count, grid.z.count), std::tuple(8U, 6U, 10U));
  const Grid beside = build_plan(configuration, example(), steel)->grid;  // a line has no width across
  EXPECT_NEAR((beside.y.last - beside.y.first).value, 0.5 * beside.z.last.value, 1e-15);
}

TEST(Plan, AnImageLiesInThePlaneThatIsStated) {
  Configuration configuration;
  EXPECT_EQ(build_plan(configuration, matrix_example(), steel)->grid.y, (Axis{Metres(), Metres(), 1}));
  configuration.grid.y = {Metres(2e-3), Metres(2e-3)};
  EXPECT_EQ(build_plan(configuration, matrix_example(), steel)->grid.y, (Axis{Metres(2e-3), Metres(2e-3), 1}));
  configuration.grid.y = {Metres(2e-3), Metres(3e-3)};
  EXPECT_THAT(fault_of(configuration, matrix_example()),
              HasSubstr("configuration: [grid] y: found one pixel over [0.002, 0.003] m; expected equal ends for one pixel"));
}

TEST(Plan, VolumesThatCannotBeAreRefused) {
  Configuration configuration;
  configuration.grid.pixels = {8, 6, 10};
  section<DisplaySection>(configuration).pixels = {16, 16};
  EXPECT_EQ(
      fault_of(configuration, matrix_example()),
      "configuration: [display]: found a grid of its own for a volume; expected no x, z and pixels there: volumes are shown on "
      "[grid]");
  section<DisplaySection>(configuration).pixels.reset();
  configuration.grid.pixels = {10000, 10000, 10000};
  EXPECT_EQ(
      fault_of(configuration, matrix_example()),
      "configuration: [grid] pixels: found 10000 x 10000 x 10000 pixels, 8000.0 GB for the complex image alone; expected at most "
      "268435456 pixels");
}

TEST(Plan, TooLargeForMemorySaysHowMuchItNeeds) {
  Configuration configuration;
  configuration.grid.pixels = {2000, 2000};
  configuration.imaging.memory_limit = 100e6;
  // One table of 16 x 4e6 entries of 4.5 to 5 bytes, by the width of the processor's vectors, is 0.288 to 0.320 GB, the images
  // (12 + 5) x 4e6 bytes 0.068 GB, samples 0.003 GB.
  EXPECT_THAT(
      fault_of(configuration, example()),
      ::testing::MatchesRegex(
          "configuration: \\[grid\\] pixels: found 2000 x 2000 pixels with 16 elements and 1 view, which need 0.3[69] GB; "
          "expected a plan that fits into 0.10 GB \\(\\[imaging\\] memory_limit\\)"));
}

TEST(Plan, SmallAmountsOfMemoryAreInMegabytes) {
  Configuration configuration;
  configuration.imaging.memory_limit = 1.5e6;
  EXPECT_THAT(fault_of(configuration, example()),
              ::testing::ContainsRegex("which need [0-9.]+ MB; expected a plan that fits into 1.5 MB"));
}

TEST(Plan, MemoryCountsWholePatchesOfPixels) {
  Configuration configuration;
  configuration.grid.pixels = {1, 65536};
  const double column = test::host_bytes(build_plan(configuration, example(), steel));
  EXPECT_GE(column, 16.0 * 4.0 * 65536.0 * 4.5);  // the tables alone, four pixels wide
}

TEST(Plan, MemoryGrowsWithFramesInFlightAndViews) {
  Configuration configuration;
  const auto one = build_plan(configuration, example(), steel);
  EXPECT_GT(test::host_bytes(one, 4), test::host_bytes(one));
  tfm(configuration).views = {"LL", "TT"};
  EXPECT_GT(test::host_bytes(build_plan(configuration, example(), steel)), 1.5 * test::host_bytes(one));
  EXPECT_GT(default_memory_limit(), 0.0);
}

TEST(SimulatorSection, SeedMovesTheDemoPartAndReflectorsReplaceIt) {
  Configuration configuration;
  const auto first = simulator_configuration(configuration);
  section<SimulatorSection>(configuration).source.seed = 2;
  const auto second = simulator_configuration(configuration);
  EXPECT_EQ(first.phantom.reflectors(), second.phantom.reflectors());
  EXPECT_TRUE([&] {
    for (std::size_t i = 0; i < first.phantom.points.size(); ++i) {
      if (first.phantom.points[i].centre != second.phantom.points[i].centre) return true;
    }
    return false;
  }());
  section<SimulatorSection>(configuration).backwall = Metres(0.02);
  const auto replaced = simulator_configuration(configuration);
  EXPECT_EQ(replaced.phantom.reflectors(), 1u);
  EXPECT_EQ(replaced.phantom.backwalls.front().depth.value, 0.02);
}

TEST(SimulatorSection, ContradictionsNameTheSection) {
  Configuration configuration = parse_configuration("[simulator]\nsample_rate = 1e6\n", "demo.toml");
  EXPECT_THAT(test::input_error([&] { static_cast<void>(simulator_configuration(configuration)); }),
              ::testing::StartsWith("demo.toml: [simulator]"))
      << "5 MHz need more than 10 MHz";
}

}  // namespace
}  // namespace echoform
