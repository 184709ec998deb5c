#include "methods/imaging_task.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numbers>
#include <string>

#include "methods/registry.hpp"
#include "settings/reader.hpp"
#include "tests/methods/small_arrays.hpp"
#include "tests/support/input_error.hpp"

namespace echoform {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Acquisition small_frames() {
  return test::frames_of(test::sixteen_elements(), 256, Hertz(40e6));
}

ImagingTask task_of_text(const std::string& text, const Acquisition& acquisition) {
  const Configuration configuration = parse_configuration(text, "part.toml");
  return task_of(method_of(configuration), {.configuration = configuration,
                                            .acquisition = acquisition,
                                            .frames_in_flight = 3,
                                            .use = ImagingUse::live,
                                            .settings_revision = 7,
                                            .crop = false,
                                            .besides = 5.0});
}

TEST(ImagingTaskTest, SettingsReplaceWhatTheDataStateAndTheRequestIsKept) {
  const Acquisition acquisition = small_frames();
  const ImagingTask task = task_of_text(
      "[material]\nlongitudinal_velocity = 5900\n[acquisition]\nsample_rate = 50e6\nsample_scale = 0.5\n", acquisition);
  EXPECT_EQ(task.velocities.longitudinal_velocity, MetresPerSecond(5900.0));
  EXPECT_EQ(task.acquired.sample_rate, Hertz(50e6));
  EXPECT_EQ(task.acquired.probe.elements, acquisition.probe.elements);
  EXPECT_THAT(task.notes, ElementsAre("part.toml: [material] longitudinal_velocity = 5900 m/s where the data states none",
                                      "part.toml: [acquisition] sample_rate = 50 MHz replaces 40 MHz of the data",
                                      "part.toml: [acquisition] sample_scale = 0.5 replaces 1 of the data"));
  EXPECT_EQ(task.frames_in_flight, 3U);
  EXPECT_EQ(task.use, ImagingUse::live);
  EXPECT_EQ(task.settings_revision, 7U);
  EXPECT_EQ(task.crop, false);
  EXPECT_EQ(task.besides, 5.0);
}

TEST(ImagingTaskTest, APositionOfAScanIsATaskOfItsOwn) {
  const std::string scan =
      "[material]\nlongitudinal_velocity = 5900\n[scan]\npath = \"line\"\n[grid]\nx = [-0.01, 0.01]\nz = [0.01, 0.02]\npixels = "
      "[21, "
      "11]\n";
  const Acquisition acquisition = small_frames();
  const ImagingTask whole = task_of_text(scan, acquisition);
  const Grid grid{{Metres(-0.01), Metres(0.01), 21}, {Metres(0.01), Metres(0.02), 11}, {}};
  const Grid part{{Metres(0.0), Metres(0.005), 6}, {Metres(0.01), Metres(0.02), 11}, {}};
  RigidMotion motion;
  motion.shift.x = Metres(0.004);
  const ImagingTask there = task_at(whole, motion, part, grid);
  for (std::size_t k = 0; k < acquisition.probe.elements.size(); ++k) {
    EXPECT_DOUBLE_EQ(there.acquired.probe.elements[k].centre.x.value, acquisition.probe.elements[k].centre.x.value + 0.004);
  }
  EXPECT_EQ(there.grid.pixels, GridPixels(6, 11));
  EXPECT_EQ(there.whole_grid, grid);
  EXPECT_EQ(whole.acquired.probe.elements, acquisition.probe.elements) << "the scan's own is as it was";
  EXPECT_EQ(whole.grid.pixels, GridPixels(21, 11));
  EXPECT_FALSE(whole.whole_grid);
}

// Of a probe that is turned around the part, s = 0 is a place that the probe need not ever stand at.
TEST(ImagingTaskTest, FramesAreValidWhereTheProbeStands) {
  const std::string sideways = "[material]\nlongitudinal_velocity = 5900\n[probe]\nnormal = [1, 0, -0.01]\n";
  const std::string scan = "[scan]\npath = \"circle\"\n[grid]\nx = [-0.01, 0.01]\nz = [0.01, 0.02]\npixels = [21, 11]\n";
  EXPECT_THAT(test::input_error([&] { static_cast<void>(task_of_text(sideways, small_frames())); }),
              HasSubstr("found emission towards z = -"));
  const ImagingTask whole = task_of_text(sideways + scan, small_frames());
  const Grid grid{{Metres(-0.01), Metres(0.01), 21}, {Metres(0.01), Metres(0.02), 11}, {}};
  EXPECT_THAT(test::input_error([&] { static_cast<void>(task_at(whole, {}, grid, grid)); }),
              HasSubstr("found emission towards z = -"));
  RigidMotion turned;
  turned.axis = {0.0, 1.0, 0.0};
  turned.angle = -0.5 * std::numbers::pi;
  EXPECT_NO_THROW(static_cast<void>(task_at(whole, turned, grid, grid)));
}

TEST(ImagingTaskTest, DataThatTheMethodCannotTakeAreRefusedBeforeSettingsMeetThem) {
  Acquisition passive = small_frames();
  passive.events.assign(1, {PassiveEvent{}, {}});
  EXPECT_THAT(test::input_error([&] { static_cast<void>(task_of_text("[acquisition]\nsample_rate = 1\n", passive)); }),
              HasSubstr("passive events in which nobody transmits"));
}

}  // namespace
}  // namespace echoform
