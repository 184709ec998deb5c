// What a plan is warned of, against what single lookups find.
#include "methods/tfm/plan_warnings.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

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

/// A sample of short_scan(): that of the way out and back to a pixel by L.
double sample_of(double way) {
  return (way / 6320.0 - 2e-6) * 50e6;
}
/// The depth below an element whose own echo is that sample, by such velocities out and back.
double depth_of(double sample, double out = 6320.0, double back = 6320.0) {
  return (2e-6 + sample / 50e6) / (1.0 / out + 1.0 / back);
}

/// Two columns, each below one of the two elements in the middle, at two depths.
Configuration below_two(double first, double last, const std::string& view = "LL") {
  Configuration configuration = with_depth(first, last, 2);
  configuration.grid.x = {Metres(-0.3e-3), Metres(0.3e-3)};
  configuration.grid.pixels.x = 2;
  tfm(configuration).views = {view};
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

TEST(PlanWarnings, LessThanASampleBeyondTheEndIsNotCounted) {
  Acquisition acquisition = short_scan();
  acquisition.start_time = Seconds(2.7e-6);
  acquisition.time_offset = Seconds(0.7e-6);  // samples are where they were
  for (const auto& [view, out, back] :
       {std::tuple{"LL", 6320.0, 6320.0}, {"LT", 6320.0, 3130.0}, {"TL", 3130.0, 6320.0}, {"TT", 3130.0, 3130.0}}) {
    const double inside = depth_of(300.0, out, back);
    // Clang 14 captures structured bindings by name alone.
    const auto warnings = [&, there = out, home = back, named = view](double sample) {
      return unsampled_warnings(*build_plan(below_two(inside, depth_of(sample, there, home), named), acquisition, alloy));
    };
    EXPECT_THAT(warnings(500.9), IsEmpty()) << view;
    const double depth = depth_of(501.1, out, back);
    // What is asked for is that of the farthest elements, 4.8 mm aside, and the one behind it, between which is interpolated.
    const double farthest = std::hypot(4.8e-3, depth) * (1.0 / out + 1.0 / back);
    EXPECT_THAT(warnings(501.1),
                ElementsAre(fmt::format("the image asks for samples up to {:.0f}, the A-scan ends with 500: 50 % "
                                        "of the pixels of {} stay dark",
                                        std::floor((farthest - 2e-6) * 50e6) + 1.0, view)));
  }
}

TEST(PlanWarnings, LessThanASampleBeforeTheBeginIsNotCounted) {
  // A pixel has a sample as long as its farthest elements have, 4.8 mm aside.
  const auto depth_of_farthest = [](double sample) { return std::sqrt(std::pow(depth_of(sample), 2) - std::pow(4.8e-3, 2)); };
  const auto warnings = [&](double sample) {
    return unsampled_warnings(*build_plan(below_two(depth_of_farthest(sample), 20e-3), short_scan(), alloy));
  };
  EXPECT_THAT(warnings(-0.9), IsEmpty());
  EXPECT_THAT(warnings(-1.1), ElementsAre(fmt::format("the image asks for samples from {:.0f} on, before the A-scan begins: 50 % "
                                                      "of the pixels of LL stay dark",
                                                      std::floor(sample_of(2.0 * depth_of_farthest(-1.1))))));
}

TEST(PlanWarnings, SaySharesInWholePercentOrLessThanOne) {
  // Of 64 x 64 pixels those on the edges of the deepest rows, beside the array.
  for (const auto& [sample, share] : {std::pair{500.0, "less than 1 %"}, {500.5, "1 %"}, {501.0, "2 %"}}) {
    Configuration configuration = with_depth(30e-3, depth_of(sample) - 1e-9, 64);
    configuration.grid.x = {Metres(-10e-3), Metres(10e-3)};
    configuration.grid.pixels.x = 64;
    const auto plan = build_plan(configuration, short_scan(), alloy);
    std::size_t dark = 0;
    for (std::size_t k = 0; k < plan->grid.pixels(); ++k) {
      const Point pixel = plan->grid.at(k);
      double nearest = 1.0;
      for (const Element& element : plan->acquisition.probe.elements) {
        nearest = std::min(nearest, std::hypot((pixel.x - element.centre.x).value, pixel.z.value));
      }
      dark += sample_of(2.0 * nearest) > 501.0 ? 1 : 0;
    }
    const double percent = 100.0 * static_cast<double>(dark) / 4096.0;
    ASSERT_EQ(percent < 1.0 ? "less than 1 %" : fmt::format("{:.0f} %", percent), share) << dark;
    EXPECT_THAT(unsampled_warnings(*plan), ElementsAre(HasSubstr(fmt::format(": {} of the pixels of LL stay dark", share))));
  }
}

TEST(PlanWarnings, LookAtUpTo64PixelsAlongAnAxisAndAt16OfAVolume) {
  const auto depths_of = [](const std::vector<Point>& points) {
    std::set<double> depths;
    for (const Point& point : points) depths.insert(std::round(1e6 * point.z.value));
    return depths;
  };
  const Grid image{{Metres(0.0), Metres(1e-3), 1001}, {Metres(0.0), Metres(64e-6), 65}, {}};
  const std::vector<Point> of_image = some_pixels(image);
  EXPECT_EQ(of_image.size(), 64U * 64U);
  std::set<double> all_but_one = depths_of(of_image);
  EXPECT_EQ(all_but_one.size(), 64U);
  EXPECT_TRUE(all_but_one.contains(0.0) && all_but_one.contains(64.0)) << "both ends are among them";
  const auto [left, right] = std::ranges::minmax(of_image, {}, [](const Point& point) { return point.x.value; });
  EXPECT_DOUBLE_EQ(left.x.value, 0.0);
  EXPECT_DOUBLE_EQ(right.x.value, 1e-3);
  double before = 0.0;
  for (std::size_t k = 1; k < 64; ++k) {
    const double x = of_image[k].x.value;
    EXPECT_NEAR(x - before, 1e-3 / 63.0, 1.01e-6) << "evenly, to a pixel";
    before = x;
  }
  const Grid volume{{Metres(0.0), Metres(15e-3), 16}, {Metres(1e-6), Metres(17e-6), 17}, {Metres(0.0), Metres(1e-3), 2}};
  const std::vector<Point> of_volume = some_pixels(volume);
  EXPECT_EQ(of_volume.size(), 16U * 2U * 16U);
  EXPECT_EQ(depths_of(of_volume).size(), 16U);
  EXPECT_TRUE(depths_of(of_volume).contains(17.0));
  EXPECT_EQ(std::ranges::count_if(of_volume, [](const Point& point) { return point.y == Metres(1e-3); }), 256);
  const Grid row{{Metres(0.0), Metres(0.0), 1}, {Metres(1e-3), Metres(3e-3), 3}, {}};
  EXPECT_EQ(some_pixels(row), row.points()) << "fewer are looked at one by one";
}

TEST(PlanWarnings, OfSeveralPositionsCountPixelsThatNoneSamples) {
  // The probe at two heights: pixels 40 mm deep lie within reach of the lower one alone.
  const auto warnings = [&](const std::vector<double>& heights, double depth) {
    Acquisition acquisition = short_scan();
    for (std::uint32_t position = 0; position < heights.size(); ++position) {
      acquisition.positions.push_back({.origin = {Metres(0.0), Metres(0.0), Metres(heights[position])}});
      for (std::uint32_t element = 0; element < 16; ++element) {
        acquisition.events.push_back({ElementEvent{element}, {}, position});
      }
    }
    const auto plan = build_plan(below_two(20e-3, depth), acquisition, alloy);
    return unsampled_warnings(*plan);
  };
  EXPECT_THAT(warnings({0.0, 5e-3}, 40e-3), IsEmpty());
  EXPECT_THAT(warnings({5e-3, 0.0}, 40e-3), IsEmpty());
  EXPECT_THAT(warnings({0.0, 1e-3}, 40e-3), ElementsAre(HasSubstr("50 % of the pixels of LL stay dark")));
  // Both rows are beyond the first position, the deeper one alone beyond the second: the first position's share stands for all.
  EXPECT_THAT(warnings({-18e-3, 1e-3}, 40e-3), ElementsAre(HasSubstr(": 100 % of the pixels of LL stay dark")));
  EXPECT_THAT(warnings({1e-3, -18e-3}, 40e-3), ElementsAre(HasSubstr(": 50 % of the pixels of LL stay dark")));
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
  tfm(configuration).apodization.sides = ApodizationSides::transmit;
  EXPECT_THAT(warning(), HasSubstr("[apodization] sides weighs transmitters and receivers differently: "));
  tfm(configuration).apodization.window = ApodizationWindow::none;
  EXPECT_EQ(warning(), "") << "nothing is weighed";
  tfm(configuration).apodization.angle_limit = 30.0;
  EXPECT_THAT(warning(), HasSubstr("[apodization] sides weighs transmitters and receivers differently: "));
  acquisition.matrix = MatrixKind::half;
  EXPECT_EQ(warning(), "") << "whose sender says that s_ij = s_ji";
}

TEST(PlanWarnings, HalfSummedDataDoNotTellReceiversApart) {
  Acquisition acquisition = short_scan();
  acquisition.matrix = MatrixKind::half_summed;
  Configuration configuration = with_depth(7e-3, 15e-3, 8);
  const auto warning = [&] { return half_summed_warning(*build_plan(configuration, acquisition, alloy)).value_or(""); };
  tfm(configuration).adaptive.kind = "coherence_factor";
  EXPECT_EQ(
      warning(),
      "the data holds s_ij + s_ji alone (half_summed), and [imaging] adaptive tells receivers apart: the image is exact only "
      "as far as s_ij = s_ji");
  tfm(configuration).adaptive.kind = "none";
  tfm(configuration).views = {"LT", "LL", "TL"};
  EXPECT_THAT(warning(), HasSubstr(", and LT, TL take other ways out than back: "));
  // One element alone has no pair of two directions.
  acquisition.probe.elements.resize(1);
  EXPECT_EQ(warning(), "");
}

TEST(PlanWarnings, WeightsOfElementsThatFireAreOfThoseThatFireAlone) {
  Configuration configuration = with_depth(8e-3, 20e-3, 9);
  Acquisition waves = short_scan();
  waves.events = {{PlaneWaveEvent{3e-5, 0.0, std::nullopt}, {}}};
  const auto warning = [&](const Acquisition& acquisition) {
    return unweighed_warning(*build_plan(configuration, acquisition, alloy));
  };
  auto& apodization = tfm(configuration).apodization;
  apodization.sides = ApodizationSides::transmit;
  EXPECT_EQ(warning(waves), std::nullopt) << "nothing is weighed";
  apodization.window = ApodizationWindow::hann;
  EXPECT_EQ(
      warning(waves),
      "[apodization] sides = \"transmit\" weighs elements that fire one by one, and several fire in these events: nothing is "
      "weighed; event_window weighs events, sides = \"receive\" the elements that record");
  EXPECT_EQ(warning(short_scan()), std::nullopt) << "elements fire one by one";
  apodization.sides = ApodizationSides::receive;
  EXPECT_EQ(warning(waves), std::nullopt);
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

TEST(PlanWarnings, OfWavesThatAreNotSentAreOfTheFirstThatIsImagedAndNoneOfRounding) {
  Acquisition acquisition = short_scan();
  Configuration configuration = with_depth(8e-3, 20e-3, 9);
  const auto warning = [&] { return unsent_warning(*build_plan(configuration, acquisition, alloy)).value_or(""); };
  // Slownesses across the row that make the whole longer by 0.9e-9 and 1.1e-9 s/m.
  const auto across = [](double longer) { return std::sqrt(std::pow(3e-5 + longer, 2) - std::pow(3e-5, 2)); };
  acquisition.events = {{PlaneWaveEvent{3e-5, across(0.9e-9), std::nullopt}, {}},
                        {ElementEvent{3}, {}},
                        {PlaneWaveEvent{3e-5, 0.0, std::nullopt}, {}}};
  EXPECT_EQ(warning(), "");
  acquisition.events.push_back({PlaneWaveEvent{3e-5, across(1.1e-9), std::nullopt}, {}});
  acquisition.events.push_back({PlaneWaveEvent{3e-5, 2e-4, std::nullopt}, {}});
  EXPECT_THAT(warning(), HasSubstr("transmit event 3 states a plane wave of 3e-05 s/m "));
  tfm(configuration).events = {0, 2, 4};
  EXPECT_THAT(warning(), HasSubstr("transmit event 4 states a plane wave of 0.0002022 s/m "));
  tfm(configuration).events = {0, 1, 2};
  EXPECT_EQ(warning(), "");
}

TEST(PlanWarnings, OfTheNearFieldBeginWithOnePercentOfThePixels) {
  constexpr double wavelength = 6320.0 / 5e6;
  constexpr double begins = 8.01e-3;
  // 20 columns where elements stand or would, 20 rows from 8 mm on: the first alone lies nearer, below elements that live.
  Configuration configuration = with_depth(8e-3, 20e-3, 20);
  configuration.grid.x = {Metres(-5.7e-3), Metres(5.7e-3)};
  configuration.grid.pixels.x = 20;
  tfm(configuration).apodization.directivity = true;
  const auto warning = [&](std::size_t living, double from_dead = 20e-3) {
    Acquisition acquisition = short_scan();
    for (std::size_t k = 0; k < 16; ++k) {
      Element& element = acquisition.probe.elements[k];
      element.dead = k >= living;
      element.width = Metres(element.dead ? from_dead : std::sqrt(4.0 * wavelength * begins));
    }
    return near_field_warning(*build_plan(configuration, acquisition, alloy)).value_or("");
  };
  EXPECT_EQ(warning(3), "") << "3 of 400";
  EXPECT_THAT(warning(4), HasSubstr("which begins 8.01 mm before elements of 6.36 mm at 1.26 mm of wavelength: 1 % of the pixels "
                                    "of LL lie nearer"));
  // The largest that lives counts, wherever it stands.
  Acquisition one_wide = short_scan();
  one_wide.probe.elements[3].width = Metres(std::sqrt(4.0 * wavelength * begins));
  EXPECT_THAT(near_field_warning(*build_plan(configuration, one_wide, alloy)).value_or(""),
              HasSubstr("before elements of 6.36 mm at 1.26 mm of wavelength: 4 % of the pixels"));
  // Weights by a window or by an angle are of no field.
  tfm(configuration).apodization.directivity = false;
  tfm(configuration).apodization.angle_limit = 30.0;
  EXPECT_EQ(warning(4), "");
  // TT is shorter: its far field begins later, and more pixels lie nearer.
  tfm(configuration).apodization.directivity = true;
  tfm(configuration).views = {"TT"};
  EXPECT_THAT(warning(4), HasSubstr("which begins 16.2 mm before elements of 6.36 mm at 0.626 mm of wavelength: "));
}

TEST(PlanWarnings, AreAllOfThese) {
  Acquisition acquisition = short_scan();
  for (Element& element : acquisition.probe.elements) element.width = Metres(7.5e-3);
  acquisition.events = {{PlaneWaveEvent{3e-5, 2e-4, std::nullopt}, {}}};
  Configuration configuration = with_depth(8e-3, 80e-3, 9);
  auto& apodization = tfm(configuration).apodization;
  apodization.window = ApodizationWindow::hann;
  apodization.sides = ApodizationSides::transmit;
  apodization.directivity = true;
  EXPECT_THAT(plan_warnings(*build_plan(configuration, acquisition, alloy)),
              ElementsAre(HasSubstr("stay dark"), HasSubstr("nothing is weighed"),
                          HasSubstr("transmit event 0 states a plane wave"), HasSubstr("is that of the far field")));
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
