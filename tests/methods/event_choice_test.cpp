// Which events are imaged, how they are weighed, and those of which nothing would be seen.
#include "methods/tfm/event_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "acquisition/firings.hpp"
#include "base/errors.hpp"
#include "methods/tfm/build_plan.hpp"
#include "methods/tfm/plan_warnings.hpp"
#include "methods/tfm/report.hpp"
#include "methods/tfm/setup.hpp"
#include "methods/tfm/stage_options.hpp"
#include "settings/reader.hpp"
#include "stages/beamform/apodization.hpp"
#include "tests/methods/small_arrays.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* steel =
    "[material]\nlongitudinal_velocity = 5900\nshear_velocity = 3200\n[grid]\nx = [-4e-3, 4e-3]\nz = [2e-3, 20e-3]\npixels = [9, "
    "9]\n";

Acquisition plane_waves(const std::vector<double>& degrees, double velocity) {
  Acquisition acquisition = frames_of(sixteen_elements(), 1024, Hertz(50e6));
  for (const double angle : degrees) {
    acquisition.events.push_back({plane_wave(angle * std::numbers::pi / 180.0, MetresPerSecond(velocity)), {}});
  }
  return acquisition;
}

std::string refused(const std::string& text, const Acquisition& acquisition) {
  return input_error([&] { static_cast<void>(build_plan(parse_configuration(text, "scan.toml"), acquisition)); });
}

TEST(EventChoice, SpreadsEvenly) {
  const std::vector<std::uint32_t> seven{0, 1, 2, 3, 4, 5, 6};
  EXPECT_THAT(spread_over(seven, 1), ElementsAre(3));
  EXPECT_THAT(spread_over(seven, 3), ElementsAre(1, 3, 5));
  EXPECT_THAT(spread_over(seven, 0), testing::ElementsAreArray(seven));
  EXPECT_THAT(spread_over(seven, 7), testing::ElementsAreArray(seven));
  EXPECT_THAT(spread_over(std::vector<std::uint32_t>{2, 4, 8, 9}, 2), ElementsAre(4, 9));
}

TEST(EventChoice, ChoosesAndWeighsWhatTheSettingsSay) {
  const Acquisition acquisition = plane_waves({-10, -5, 0, 5, 10}, 5900);
  const auto all = build_plan(parse_configuration(steel, "scan.toml"), acquisition);
  EXPECT_TRUE(all->events.empty());
  EXPECT_TRUE(all->event_weights.empty());
  const auto some = build_plan(parse_configuration(std::string(steel) + "[imaging]\nevents = [4, 0, 1]\ncompounded = 2\n"
                                                                        "[apodization]\nevent_window = \"hann\"\n",
                                                   "scan.toml"),
                               acquisition);
  EXPECT_THAT(some->events, ElementsAre(0, 4));
  // The window's middle points, over the two: sin^2(pi / 4) each.
  EXPECT_THAT(some->event_weights, ElementsAre(testing::FloatNear(0.5F, 1e-6F), testing::FloatNear(0.5F, 1e-6F)));
  const BeamformOptions options = beamform_options(*some, plan_pairs(*some), 0);
  EXPECT_EQ(options.pairs, all_pairs(2, 16));
  EXPECT_EQ(options.law.transmit->sources(), 2U);
  EXPECT_EQ(options.scale, 1.0F / 32.0F);
}

/// sin^2(pi t) at t of the way across, edges half a step beyond the outermost.
float hann(double rank, double count) {
  return static_cast<float>(std::pow(std::sin(std::numbers::pi * (0.5 + rank) / count), 2));
}

std::vector<float> window_of(const Acquisition& acquisition, const std::string& more = "", const std::string& window = "hann") {
  return build_plan(
             parse_configuration(std::string(steel) + more + "[apodization]\nevent_window = \"" + window + "\"\n", "scan.toml"),
             acquisition)
      ->event_weights;
}

std::vector<testing::Matcher<float>> near(const std::vector<float>& expected) {
  std::vector<testing::Matcher<float>> all;
  for (const float value : expected) all.push_back(testing::FloatNear(value, 1e-6F));
  return all;
}

TEST(EventChoice, WindowsTaperByTheAnglesOfPlaneWaves) {
  // Evenly, in turn: by their order, bit for bit.
  std::vector<float> in_turn;
  for (int k = 0; k < 5; ++k)
    in_turn.push_back(static_cast<float>(beamform::window_at(ApodizationWindow::hann, 0.5, (k + 0.5) / 5.0)));
  EXPECT_EQ(window_of(plane_waves({-10, -5, 0, 5, 10}, 5900)), in_turn);
  EXPECT_EQ(window_of(plane_waves({10, 5, 0, -5, -10}, 5900)), in_turn);
  // As instruments fire them that begin in the middle.
  EXPECT_EQ(window_of(plane_waves({0, -5, 5, -10, 10}, 5900)),
            (std::vector{in_turn[2], in_turn[1], in_turn[3], in_turn[0], in_turn[4]}));
  // Unevenly: where they lie between the outermost.
  EXPECT_THAT(window_of(plane_waves({-10, -9, 4, 10}, 5900)),
              testing::ElementsAreArray(near({hann(0, 4), hann(3 * 1.0 / 20, 4), hann(3 * 14.0 / 20, 4), hann(3, 4)})));
  // Some of them: over those alone. Again and again the same angle: as one.
  EXPECT_THAT(window_of(plane_waves({-10, 10, -9, 4, 0}, 5900), "[imaging]\nevents = [0, 1, 3]\n"),
              testing::ElementsAreArray(near({hann(0, 3), hann(2, 3), hann(2 * 14.0 / 20, 3)})));
  EXPECT_THAT(window_of(plane_waves({5, -5, 5, 0, 0}, 5900)),
              testing::ElementsAreArray(near({hann(2, 3), hann(0, 3), hann(2, 3), hann(1, 3), hann(1, 3)})));
  EXPECT_THAT(window_of(plane_waves({7}, 5900)), testing::ElementsAre(1.0F));
}

TEST(EventChoice, WindowsTakeTheAnglesOfTheMediumInWhichWavesRunOn) {
  // Even ones of shear waves, of which L waves would lie beyond a right angle.
  const std::string views = "[imaging]\nviews = [\"TT\"]\n";
  EXPECT_EQ(window_of(plane_waves({40, 20, 0}, 3200), views), window_of(plane_waves({-10, 0, 10}, 5900)));
  // In a couplant by those there: even ones in water are uneven in steel.
  Acquisition above = plane_waves({-10, 0, 5, -5, 10}, 1480);
  for (Element& element : above.probe.elements) element.centre.z = Metres(-10e-3);
  EXPECT_THAT(window_of(above, "[couplant]\nvelocity = 1480\n[imaging]\ndelay_law = \"immersion\"\n"),
              testing::ElementsAreArray(near({hann(0, 5), hann(2, 5), hann(3, 5), hann(1, 5), hann(4, 5)})));
}

TEST(EventChoice, WindowsTaperByThePlacesOfVirtualSourcesAndFoci) {
  const auto points = [](const std::vector<std::pair<double, double>>& places) {
    Acquisition acquisition = frames_of(sixteen_elements(), 1024, Hertz(50e6));
    for (const auto& [x, z] : places) {
      acquisition.events.push_back(
          {PointWaveEvent{{Metres(1e-3 * x), Metres(0.0), Metres(1e-3 * z)}, MetresPerSecond(5900), std::nullopt}, {}});
    }
    return acquisition;
  };
  // At one depth, evenly and not.
  EXPECT_THAT(window_of(points({{2, -5}, {-2, -5}, {0, -5}})),
              testing::ElementsAreArray(near({hann(2, 3), hann(0, 3), hann(1, 3)})));
  EXPECT_THAT(window_of(points({{4, 12}, {-4, 12}, {-3, 12}})),
              testing::ElementsAreArray(near({hann(2, 3), hann(0, 3), hann(2 * 1.0 / 8, 3)})));
  // On an arc, by the angles at which they go.
  const auto on_arc = [](double degrees) {
    const double a = degrees * std::numbers::pi / 180.0;
    return std::pair(20.0 * std::sin(a), 20.0 * std::cos(a));
  };
  EXPECT_THAT(window_of(points({on_arc(0), on_arc(-30), on_arc(30), on_arc(24)})),
              testing::ElementsAreArray(near({hann(3 * 30.0 / 60, 4), hann(0, 4), hann(3, 4), hann(3 * 54.0 / 60, 4)})));
}

TEST(EventChoice, WindowsOverTwoAnglesAreProducts) {
  Acquisition acquisition =
      frames_of(make_matrix_probe({8, 8, Metres(0.5e-3), Metres(0.5e-3), {}, {}}, Hertz(5e6), Hertz(3e6)), 1024, Hertz(50e6));
  const std::vector<std::pair<double, double>> angles{{10, -6}, {-10, 6}, {0, 0}, {-10, -6}, {10, 6},
                                                      {0, -6},  {10, 0},  {0, 6}, {-10, 0}};
  std::vector<float> expected;
  for (const auto& [a, b] : angles) {
    const double alpha = a * std::numbers::pi / 180.0;
    const double beta = b * std::numbers::pi / 180.0;
    acquisition.events.push_back(
        {PlaneWaveEvent{std::sin(alpha) * std::cos(beta) / 5900.0, std::sin(beta) / 5900.0, std::nullopt}, {}});
    expected.push_back(hann(a / 10 + 1, 3) * hann(b / 6 + 1, 3));
  }
  EXPECT_THAT(window_of(acquisition), testing::ElementsAreArray(near(expected)));
  // Along one oblique line of angles it is one window.
  acquisition.events.clear();
  for (const double b : {0.0, 3.0, -3.0}) {
    acquisition.events.push_back({PlaneWaveEvent{2e-3 * b / 5900.0, 1e-3 * b / 5900.0, std::nullopt}, {}});
  }
  EXPECT_THAT(window_of(acquisition), testing::ElementsAreArray(near({hann(1, 3), hann(2, 3), hann(0, 3)})));
}

TEST(EventChoice, WindowsOverLawsFollowTheirWaves) {
  Acquisition acquisition = plane_waves({8, -8, 2}, 5900);
  const Acquisition stated = acquisition;
  for (std::size_t event = 0; event < 3; ++event) {
    LawEvent law;
    for (const Firing& firing : firings_of(stated, event)) {
      law.elements.push_back(firing.element);
      law.delays.push_back(static_cast<float>(firing.delay));
    }
    acquisition.events[event].form = law;
  }
  // Delays in single precision tell angles to 1e-6.
  EXPECT_THAT(window_of(acquisition), testing::ElementsAreArray(near(window_of(stated))));
  // Where some have no direction, all are taken by their order.
  acquisition.events[1].form = LawEvent{{0, 5, 9, 12}, {0.0F, 2e-6F, 0.0F, 1e-6F}, {}};
  EXPECT_THAT(window_of(acquisition), testing::ElementsAreArray(near({hann(0, 3), hann(1, 3), hann(2, 3)})));
}

TEST(EventChoice, WavesLeaveWeightsByElementToThoseThatRecord) {
  const Acquisition acquisition = plane_waves({-5, 0, 5}, 5900);
  const std::string window = std::string(steel) + "[apodization]\nwindow = \"hann\"\n";
  const auto transmit = build_plan(parse_configuration(window + "sides = \"transmit\"\n", "scan.toml"), acquisition);
  EXPECT_THAT(unweighed_warning(*transmit).value_or(""), HasSubstr("event_window"));
  EXPECT_EQ(unweighed_warning(*build_plan(parse_configuration(window, "scan.toml"), acquisition)), std::nullopt);
  // Through a surface the way out says nothing of angles, and need not.
  Acquisition above = plane_waves({-2, 0, 2}, 1480);
  for (Element& element : above.probe.elements) element.centre.z = Metres(-10e-3);
  const std::string wet =
      std::string(steel) + "[couplant]\nvelocity = 1480\n[imaging]\ndelay_law = \"immersion\"\n[apodization]\nangle_limit = 30\n";
  EXPECT_EQ(refused(wet, above), "");
}

TEST(EventChoice, CountsInvertedWavesWithTheirSign) {
  Acquisition acquisition = plane_waves({0}, 5900);
  acquisition.events.push_back({LawEvent{{3, 4}, {}, {-1.0F, -0.5F}}, {}});
  acquisition.events.push_back({LawEvent{{3, 4}, {}, {1.0F, 0.5F}}, {}});
  const auto plan = build_plan(parse_configuration(steel, "scan.toml"), acquisition);
  EXPECT_THAT(beamform_options(*plan, plan_pairs(*plan), 0).aperture.event_weights, ElementsAre(1.0F, -1.0F, 1.0F));
}

TEST(EventChoice, RefusesWhatIsNotThere) {
  const Acquisition acquisition = plane_waves({-10, 0, 10}, 5900);
  EXPECT_EQ(refused(std::string(steel) + "[imaging]\nevents = [3]\n", acquisition),
            "scan.toml: [imaging] events: found event 3; expected events 0 to 2 of a frame");
  EXPECT_EQ(refused(std::string(steel) + "[imaging]\nevents = [1, 1]\n", acquisition),
            "scan.toml: [imaging] events: found event 1 twice; expected each event once");
  Acquisition half = frames_of(sixteen_elements(), 1024, Hertz(50e6));
  half.matrix = MatrixKind::half;
  EXPECT_THAT(
      refused(std::string(steel) + "[imaging]\ncompounded = 4\n", half),
      HasSubstr("[imaging] compounded: found 4 of the 16 events of half a matrix: each of its A-scans stands for two events; "
                "expected all of them"));
  Acquisition code = frames_of(sixteen_elements(), 1024, Hertz(50e6));
  code.events = hadamard_events(16);
  EXPECT_THAT(
      refused(std::string(steel) + "[imaging]\nevents = [1]\n", code),
      HasSubstr("[imaging] events: found 1 of the 16 events of a code: all of its rows are needed to tell elements apart"));
  EXPECT_THAT(refused(std::string(steel) + "[apodization]\nevent_window = \"hann\"\n", half),
              HasSubstr("event_window: found a window over firings of single elements"));
}

TEST(EventChoice, RefusesWavesOfWhichNoViewsRunOn) {
  // 40 degrees of shear waves have a sine of 1.185 at 5900 m/s.
  const Acquisition shear = plane_waves({0, 40}, 3200);
  EXPECT_EQ(refused(steel, shear),
            "data: transmit event 1: found a plane wave of sin(angle) / velocity = 0.0002009 s/m, a sine of 1.185 at 5900 m/s; "
            "expected an angle below 90 degrees of some view's waves, or [imaging] events without this one");
  EXPECT_EQ(refused(std::string(steel) + "[imaging]\nviews = [\"LL\", \"TT\"]\n", shear), "");
  EXPECT_EQ(refused(std::string(steel) + "[imaging]\nevents = [0]\n", shear), "");
  // Through a flat surface, the critical angle of 14.5 degrees in water for longitudinal waves, of 27.5 for shear waves.
  const std::string wet =
      std::string(steel) + "[couplant]\nvelocity = 1480\n[probe]\nstand_off = 10e-3\n[imaging]\ndelay_law = \"immersion\"\n";
  EXPECT_EQ(refused(wet, plane_waves({14}, 1480)), "");
  EXPECT_THAT(refused(wet, plane_waves({15}, 1480)),
              HasSubstr("a sine of 1.032 at 5900 m/s; expected an angle below the critical one of some view's waves"));
  EXPECT_EQ(refused(wet + "views = [\"TT\"]\n", plane_waves({15}, 1480)), "");
  // A tilted surface has another critical angle: by how much it is tilted, to either side.
  const std::string tilted = wet + "[surface]\nkind = \"plane\"\nangle = 5.0\n";
  EXPECT_NE(refused(tilted, plane_waves({14}, 1480)) == "", refused(tilted, plane_waves({-14}, 1480)) == "");
  EXPECT_THAT(refused(wet, plane_waves({80}, 1300)), HasSubstr("expected an angle below 90 degrees in the couplant"));
}

TEST(EventChoice, WavesReportTheirFigures) {
  const auto plan = build_plan(parse_configuration(steel, "scan.toml"), plane_waves({-10, 0, 10}, 5900));
  EXPECT_FALSE(plan->laws.front().reciprocal());
  EXPECT_EQ(plan->laws.front().transmit->sources(), 3U);
  EXPECT_EQ(make_imaging_setup(plan)->tables_bytes, 0U) << "plane waves in contact need no table";
  const SetupReport report = report_plan(*plan);
  const auto row = [&](const std::string& name) {
    const auto found = std::ranges::find(report.rows, name, &std::pair<std::string, std::string>::first);
    return found == report.rows.end() ? "" : found->second;
  };
  EXPECT_EQ(row("events"), "3 plane waves; -10 to 10 degrees as L, -5.4 to 5.4 degrees as T");
  // Steps of sin(10 degrees) / 5900 m/s at 5 MHz: 6.796 mm; the image is 8 mm wide, which 4 waves keep clear.
  EXPECT_NEAR(report.values["events"]["lobe_distance"].get<double>(), 5900.0 / (5e6 * std::sin(10 * std::numbers::pi / 180)),
              1e-9);
  EXPECT_EQ(report.values["events"]["enough"], 4);
  EXPECT_EQ(row("frames"), "0.0983 MB each; 3 events of 20.48 us allow at most 1.628e+04 a second, 1600 MB/s");
}

TEST(EventChoice, SpotsAreThoseOfTheSetOfWaves) {
  // Of plane waves alone on the way out, and of one element in the middle on the way back, whose waves come from everywhere
  // alike: |sum of exp(2 pi i f s_k x)| falls to one half at x as summed here.
  std::vector<double> degrees;
  for (int k = -15; k <= 15; ++k) degrees.push_back(k);
  Acquisition acquisition = plane_waves(degrees, 5900);
  for (TransmitEvent& event : acquisition.events) event.receivers = {7};
  acquisition.probe.bandwidth = Hertz(0.0);
  const auto plan = build_plan(parse_configuration(steel, "scan.toml"), acquisition);
  const auto sum_at = [&](double x) {
    std::complex<double> sum = 0.0;
    for (const double angle : degrees) {
      sum += std::polar(1.0, 2.0 * std::numbers::pi * 5e6 * std::sin(angle * std::numbers::pi / 180.0) / 5900.0 * x);
    }
    return std::abs(sum) / static_cast<double>(degrees.size());
  };
  double half = 0.0;
  while (sum_at(half) > 0.5) half += 1e-7;
  const double width = report_plan(*plan).values["lateral_resolution"]["LL"].get<double>();
  EXPECT_NEAR(width, 2.0 * half, 0.03 * width);
}

}  // namespace
}  // namespace echoform::test
