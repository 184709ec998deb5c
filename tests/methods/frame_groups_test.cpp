// When frames are imaged by groups of their A-scans, and what is said where they cannot be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/errors.hpp"
#include "methods/registry.hpp"
#include "methods/tfm/build_plan.hpp"
#include "methods/tfm/setup.hpp"
#include "pipeline/setup_memory.hpp"
#include "tests/methods/small_arrays.hpp"
#include "tests/support/input_error.hpp"

namespace echoform {
namespace {

using ::testing::MatchesRegex;

const Material aluminium{MetresPerSecond(6320.0), MetresPerSecond(3130.0)};

/// 48 elements: six groups of the pairs of 16 with 16.
Acquisition grouped_frames() {
  Acquisition acquisition = test::frames_of(make_linear_probe(48, Metres(0.5e-3), Metres(0.4e-3), Hertz(5e6), Hertz(3e6)), 2000,
                                            Hertz(40e6), Seconds(1e-6));
  acquisition.encoding = SampleEncoding::float32;
  return acquisition;
}

std::shared_ptr<const ImagingPlan> plan_for(const Acquisition& acquisition, GroupWish groups, std::optional<double> limit) {
  Configuration configuration;
  configuration.grid.pixels = {40, 40};
  configuration.imaging.threads = 2;
  configuration.imaging.memory_limit = limit;
  return build_plan(task_of(*find_method("tfm"), {.configuration = configuration,
                                                  .acquisition = acquisition,
                                                  .stated = {aluminium, {}},
                                                  .wish = {.complex_images = false, .display = false},
                                                  .groups = groups}));
}

std::string fault_for(const Acquisition& acquisition, GroupWish groups, std::optional<double> limit) {
  return test::input_error([&] { static_cast<void>(plan_for(acquisition, groups, limit)); });
}

TEST(FrameGroups, AreTakenWhereTheLimitDoesNotHoldAFrameOrTheyAreAskedFor) {
  const Acquisition frames = grouped_frames();
  const auto whole = make_imaging_setup(plan_for(frames, GroupWish::needed, std::nullopt), {.display = false});
  EXPECT_EQ(whole->groups, nullptr);
  const double needed = static_cast<double>(host_memory(*whole, 1, {BackendKind::cpu, 2}));
  EXPECT_FALSE(plan_for(frames, GroupWish::needed, needed)->by_groups);
  EXPECT_TRUE(plan_for(frames, GroupWish::always, needed)->by_groups);
  EXPECT_NE(fault_for(frames, GroupWish::never, needed - 1.0), "");
  const auto plan = plan_for(frames, GroupWish::needed, needed - 1.0);
  ASSERT_TRUE(plan->by_groups);
  const auto setup = make_imaging_setup(plan, {.display = false});
  ASSERT_NE(setup->groups, nullptr);
  EXPECT_EQ(setup->groups->count(), 6U);
  // What is stated grows by the A-scans that are read ahead, 512 of 8000 bytes a group, and nothing else.
  const std::size_t two = grouped_memory(*setup, 2, {BackendKind::cpu, 2});
  EXPECT_EQ(grouped_memory(*setup, 5, {BackendKind::cpu, 2}), two + 3 * 512 * 8000);
  EXPECT_LT(static_cast<double>(two), 0.5 * needed);
  // The least that holds two groups.
  EXPECT_EQ(fault_for(frames, GroupWish::needed, static_cast<double>(two)), "");
  EXPECT_THAT(
      fault_for(frames, GroupWish::needed, static_cast<double>(two) - 1.0),
      MatchesRegex("configuration: \\[grid\\] pixels: found 40 x 40 pixels with 48 elements and 1 view, which need [0-9.]+ MB, "
                   "and [0-9.]+ MB by groups of A-scans; expected a plan that fits into [0-9.]+ MB .*"));
}

TEST(FrameGroups, AreNoneOfCodes) {
  Acquisition coded = grouped_frames();
  coded.probe.elements.resize(32);
  coded.events = hadamard_events(32);
  EXPECT_THAT(
      fault_for(coded, GroupWish::needed, 1e6),
      MatchesRegex(".* found 40 x 40 pixels with 32 elements and 1 view, which need [0-9.]+ MB, since rows of a code are decoded "
                   "from whole frames; expected a plan that fits into 1 MB .*"));
  EXPECT_EQ(fault_for(coded, GroupWish::always, std::nullopt),
            "configuration: imaging by groups of A-scans: found frames that it cannot take: rows of a code are decoded from "
            "whole frames; expected whole frames");
}

TEST(FrameGroups, MayBeOfFramesThatNoSenderMaySend) {
  // 2 events x 200 receivers x 4 MB.
  Acquisition large = grouped_frames();
  large.events = element_events(std::vector<std::uint32_t>{3, 9});
  large.samples = 1 << 20;
  large.probe = make_linear_probe(200, Metres(0.1e-3), Metres(0.1e-3), Hertz(5e6), Hertz(3e6));
  ASSERT_GT(large.frame_bytes(), AcquisitionLimits{}.frame_bytes);
  EXPECT_EQ(fault_for(large, GroupWish::always, 1e13), "");
}

}  // namespace
}  // namespace echoform
