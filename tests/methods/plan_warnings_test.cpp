// What a plan is warned of, against what single lookups find.
#include "methods/tfm/plan_warnings.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>

#include "methods/registry.hpp"
#include "methods/tfm/build_plan.hpp"
#include "methods/tfm/section.hpp"
#include "tests/methods/small_arrays.hpp"

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
  return test::frames_of(test::sixteen_elements(), 501, Hertz(50e6), Seconds(2e-6));
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

TEST(PlanWarnings, OfAVolumeAreThoseOfItsPixels) {
  // Slabs of 1 mm, 30 to 50 mm deep, in front of the array: all below 37.92 mm have no sample, as of the plane above.
  Configuration configuration = with_depth(30e-3, 50e-3, 41);
  configuration.grid.pixels = {17, 5, 41};
  configuration.grid.y = {Metres(-0.5e-3), Metres(0.5e-3)};
  const auto plan = build_plan(configuration, short_scan(), alloy);
  ASSERT_EQ(plan->grid.pixels(), 17U * 5U * 41U);
  // 16 depths are looked at, 1.33 mm apart, and those from the 7th on have none: 10 of 16, but for one along y.
  const auto lines = unsampled_warnings(*plan);
  ASSERT_EQ(lines.size(), 1U);
  const std::size_t percent = lines.front().find(" % of the pixels of LL stay dark");
  ASSERT_NE(percent, std::string::npos) << lines.front();
  EXPECT_NEAR(std::stod(lines.front().substr(lines.front().rfind(' ', percent - 1))), 100.0 * 10 / 16, 100.0 / 16);
}

TEST(PlanWarnings, CountPairsThatFireAndRecord) {
  // The two elements at one end fire: the far corner needs 6 mm more on the way out than from the middle.
  Acquisition acquisition = short_scan();
  const std::vector<std::uint32_t> firing{14, 15};
  acquisition.events = element_events(firing);
  const auto plan = build_plan(with_depth(30e-3, 40e-3, 41), acquisition, alloy);
  const auto dark_share = [&](const std::vector<std::uint32_t>& fire) {
    std::size_t dark = 0;
    for (std::size_t k = 0; k < plan->grid.pixels(); ++k) {
      const Point pixel = plan->grid.at(k);
      const auto way = [&](std::size_t element) {
        const Point& centre = acquisition.probe.elements[element].centre;
        return std::hypot((pixel.x - centre.x).value, pixel.z.value);
      };
      bool lit = false;
      for (const std::uint32_t tx : fire) {
        for (std::size_t rx = 0; rx < 16; ++rx) lit = lit || ((way(tx) + way(rx)) / 6320.0 - 2e-6) * 50e6 <= 501.0;
      }
      dark += lit ? 0 : 1;
    }
    return fmt::format("{:.0f}", 100.0 * static_cast<double>(dark) / static_cast<double>(plan->grid.pixels()));
  };
  std::vector<std::uint32_t> all(16);
  std::iota(all.begin(), all.end(), 0);
  ASSERT_NE(dark_share(firing), dark_share(all));
  EXPECT_THAT(unsampled_warnings(*plan), ElementsAre(HasSubstr(": " + dark_share(firing) + " % of the pixels of LL stay dark")));
}

TEST(PlanWarnings, TellWhatLiesBeforeTheAScan) {
  const auto plan = build_plan(with_depth(1e-3, 20e-3, 20), short_scan(), alloy);
  EXPECT_THAT(unsampled_warnings(*plan),
              ElementsAre(AllOf(HasSubstr("before the A-scan begins: "), HasSubstr("of LL stay dark"))));
}

TEST(PlanWarnings, AreOfEachViewAndLeaveOutThoseThatHaveNone) {
  Configuration configuration = with_depth(10e-3, 35e-3, 26);
  tfm(configuration).views = {"LL", "TT"};  // TT ends at 18.8 mm
  EXPECT_THAT(unsampled_warnings(*build_plan(configuration, short_scan(), alloy)),
              ElementsAre(AllOf(HasSubstr("of the pixels of TT stay dark"), Not(HasSubstr("of LL")))));
}

TEST(PlanWarnings, NoneForTheDefaultGrid) {
  EXPECT_THAT(plan_warnings(*build_plan({}, short_scan(), alloy)), IsEmpty());
}

TEST(PlanWarnings, AreLoggedForImagesAndLiveRunsAndLeftToPlan) {
  const auto log_of = [](ImagingUse use) {
    return logged([&] {
      const Configuration configuration = with_depth(60e-3, 80e-3, 8);
      log_findings(*resolve_imaging({configuration, short_scan(), {alloy, {}}, 1, use}));
    });
  };
  for (const ImagingUse use : {ImagingUse::recording, ImagingUse::live}) {
    EXPECT_THAT(log_of(use), HasSubstr("configuration: the image asks for samples up to "));
    EXPECT_THAT(log_of(use), HasSubstr("100 % of the pixels of LL stay dark"));
  }
  EXPECT_THAT(log_of(ImagingUse::description), Not(HasSubstr("stay dark")));
}

TEST(PlanWarnings, HalfSummedDataIsExactForViewsAndWeightsThatDoNotTellDirections) {
  Acquisition acquisition = short_scan();
  acquisition.matrix = MatrixKind::half_summed;
  Configuration configuration = with_depth(7e-3, 15e-3, 8);
  const auto warning = [&] { return half_summed_warning(*build_plan(configuration, acquisition, alloy)).value_or(""); };
  EXPECT_EQ(warning(), "");
  tfm(configuration).views = {"LL", "LT"};
  EXPECT_EQ(
      warning(),
      "the data holds s_ij + s_ji alone (half_summed), and LT takes other ways out than back: the image is exact only as far "
      "as s_ij = s_ji");
  EXPECT_THAT(build_plan(configuration, acquisition, alloy)->warnings,
              ElementsAre(HasSubstr("configuration: the data holds s_ij + s_ji alone")));
  tfm(configuration).views = {"LL"};
  tfm(configuration).apodization.window = ApodizationWindow::hann;
  EXPECT_EQ(warning(), "");
  tfm(configuration).apodization.sides = ApodizationSides::receive;
  EXPECT_THAT(warning(), HasSubstr("[apodization] sides weighs transmitters and receivers differently: "));
  acquisition.matrix = MatrixKind::half;
  EXPECT_EQ(warning(), "") << "whose sender says that s_ij = s_ji";
}

TEST(PlanWarnings, SayWhatOfAPlaneWaveItsRowOfElementsDoesNotSend) {
  Acquisition acquisition = short_scan();
  const auto warning = [&] { return unsent_warning(*build_plan(with_depth(8e-3, 20e-3, 9), acquisition, alloy)); };
  acquisition.events = {{PlaneWaveEvent{3e-5, 0.0, std::nullopt}, {}}};
  EXPECT_EQ(warning(), std::nullopt);
  // Beyond a right angle by its length, not by what is sent.
  acquisition.events.push_back({PlaneWaveEvent{3e-5, 2e-4, std::nullopt}, {}});
  EXPECT_EQ(
      warning(),
      "transmit event 1 states a plane wave of 0.0002022 s/m whose elements stand in one row, and their delays make 3e-05 s/m "
      "along it alone: it is imaged as that");
}

TEST(PlanWarnings, SayWhereDirectivityIsThatOfAFarFieldFarOff) {
  Acquisition acquisition = short_scan();
  Configuration configuration = with_depth(8e-3, 20e-3, 25);
  tfm(configuration).apodization.directivity = true;
  const auto warning = [&] { return near_field_warning(*build_plan(configuration, acquisition, alloy)); };
  // 0.5 mm at 1.264 mm: 0.05 mm ahead.
  EXPECT_EQ(warning(), std::nullopt);
  // 7.5 mm: 11.1 mm. Pixels lie every half millimetre in depth from 8 mm on, 7 rows of 25 above that, below the array.
  for (Element& element : acquisition.probe.elements) element.width = Metres(7.5e-3);
  EXPECT_EQ(warning(),
            "[apodization] directivity is that of the far field, which begins 11.1 mm before elements of 7.5 mm at 1.26 mm of "
            "wavelength: 28 % of the pixels of LL lie nearer");
  // Lengths count across the plane alone.
  for (Element& element : acquisition.probe.elements) {
    element.width = Metres(0.5e-3);
    element.length = Metres(7.5e-3);
  }
  EXPECT_EQ(warning(), std::nullopt);
  configuration.grid.y = {Metres(-2e-3), Metres(2e-3)};
  configuration.grid.pixels.y = 3;
  EXPECT_THAT(warning().value_or(""), HasSubstr("before elements of 7.5 mm"));
  tfm(configuration).apodization.directivity = false;
  EXPECT_EQ(warning(), std::nullopt);
}

}  // namespace
}  // namespace echoform
