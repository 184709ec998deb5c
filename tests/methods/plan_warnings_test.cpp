// What a plan is warned of, against what single lookups find.
#include "methods/tfm/plan_warnings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "methods/tfm/build_plan.hpp"

namespace echoform {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr Material alloy{MetresPerSecond(6320.0), MetresPerSecond(3130.0)};

/// 16 elements; 501 samples at 50 MHz from 2 us on: LL from 6.3 to 37.9 mm below an element.
Acquisition short_scan() {
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(16, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  acquisition.samples = 501;
  acquisition.sample_rate = Hertz(50e6);
  acquisition.start_time = Seconds(2e-6);
  return acquisition;
}

Configuration with_depth(double first, double last, std::size_t rows) {
  Configuration configuration;
  configuration.grid.x = {Metres(-4e-3), Metres(4e-3)};
  configuration.grid.z = {Metres(first), Metres(last)};
  configuration.grid.pixels = {17, rows};
  return configuration;
}

/// The log of what is done, which goes to standard output unless a program says otherwise.
template <class Action>
std::string logged(Action&& action) {
  testing::internal::CaptureStdout();
  action();
  return testing::internal::GetCapturedStdout();
}

TEST(PlanWarnings, CountPixelsWithoutAnySample) {
  // 41 rows from 30 to 50 mm: those below 6320 * 12 us / 2 = 37.92 mm have no sample of any pair, 24 of 41; 64 rows at most are
  // looked at, here all of them.
  const auto plan = build_plan(with_depth(30e-3, 50e-3, 41), short_scan(), alloy);
  std::size_t dark = 0;
  for (std::size_t k = 0; k < plan->grid.pixels(); ++k) {
    const Point pixel = plan->grid.at(k);
    bool lit = false;
    for (const Element& tx : plan->acquisition.probe.elements) {
      for (const Element& rx : plan->acquisition.probe.elements) {
        const double way =
            std::hypot((pixel.x - tx.centre.x).value, pixel.z.value) + std::hypot((pixel.x - rx.centre.x).value, pixel.z.value);
        lit = lit || (way / 6320.0 - 2e-6) * 50e6 <= 501.0;
      }
    }
    dark += lit ? 0 : 1;
  }
  const int percent = static_cast<int>(std::lround(100.0 * static_cast<double>(dark) / static_cast<double>(plan->grid.pixels())));
  ASSERT_NEAR(percent, 59, 2);
  EXPECT_THAT(unsampled_warnings(*plan),
              ElementsAre(AllOf(HasSubstr("the image asks for samples up to "), HasSubstr("the A-scan ends with 500: "),
                                HasSubstr(std::to_string(percent) + " % of the pixels of LL stay dark"))));
}

TEST(PlanWarnings, TellWhatLiesBeforeTheAScan) {
  const auto plan = build_plan(with_depth(1e-3, 20e-3, 20), short_scan(), alloy);
  EXPECT_THAT(unsampled_warnings(*plan),
              ElementsAre(AllOf(HasSubstr("before the A-scan begins: "), HasSubstr("of LL stay dark"))));
}

TEST(PlanWarnings, AreOfEachViewAndLeaveOutThoseThatHaveNone) {
  Configuration configuration = with_depth(10e-3, 35e-3, 26);
  configuration.imaging.views = {"LL", "TT"};  // TT ends at 18.8 mm
  EXPECT_THAT(unsampled_warnings(*build_plan(configuration, short_scan(), alloy)),
              ElementsAre(AllOf(HasSubstr("of the pixels of TT stay dark"), Not(HasSubstr("of LL")))));
}

TEST(PlanWarnings, NoneForTheDefaultGrid) {
  EXPECT_THAT(plan_warnings(*build_plan({}, short_scan(), alloy)), IsEmpty());
}

TEST(PlanWarnings, AreLoggedForImagesAndLiveRunsAndLeftToPlan) {
  const auto log_of = [](PlanUse use) {
    return logged([&] { static_cast<void>(build_plan(with_depth(60e-3, 80e-3, 8), short_scan(), alloy, 1, use)); });
  };
  for (const PlanUse use : {PlanUse::recording, PlanUse::live}) {
    EXPECT_THAT(log_of(use), HasSubstr("configuration: the image asks for samples up to "));
    EXPECT_THAT(log_of(use), HasSubstr("100 % of the pixels of LL stay dark"));
  }
  EXPECT_THAT(log_of(PlanUse::description), Not(HasSubstr("stay dark")));
}

TEST(PlanWarnings, HalfSummedDataIsExactForViewsAndWeightsThatDoNotTellDirections) {
  Acquisition acquisition = short_scan();
  acquisition.matrix = MatrixKind::half_summed;
  Configuration configuration = with_depth(7e-3, 15e-3, 8);
  const auto warning = [&] { return half_summed_warning(*build_plan(configuration, acquisition, alloy)).value_or(""); };
  EXPECT_EQ(warning(), "");
  configuration.imaging.views = {"LL", "LT"};
  EXPECT_EQ(
      warning(),
      "the data holds s_ij + s_ji alone (half_summed), and LT takes other ways out than back: the image is exact only as far "
      "as s_ij = s_ji");
  EXPECT_THAT(logged([&] { static_cast<void>(warning()); }), HasSubstr("configuration: the data holds s_ij + s_ji alone"));
  configuration.imaging.views = {"LL"};
  configuration.apodization.window = ApodizationWindow::hann;
  EXPECT_EQ(warning(), "");
  configuration.apodization.sides = ApodizationSides::receive;
  EXPECT_THAT(warning(), HasSubstr("[apodization] sides weighs transmitters and receivers differently: "));
  acquisition.matrix = MatrixKind::half;
  EXPECT_EQ(warning(), "") << "whose sender says that s_ij = s_ji";
}

}  // namespace
}  // namespace echoform
