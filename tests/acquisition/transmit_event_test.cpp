// What the forms of events come to, against sums written out by hand, and what they may say.
#include "acquisition/transmit_event.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "acquisition/firings.hpp"
#include "acquisition/frame_layout.hpp"
#include "base/errors.hpp"
#include "tests/support/input_error.hpp"

namespace echoform {
namespace {

constexpr double degrees = std::numbers::pi / 180.0;

Acquisition of_form(TransmitForm form, std::size_t elements = 8) {
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(elements, Metres(0.5e-3), Metres(0.4e-3), Hertz(5e6), Hertz(3e6));
  acquisition.samples = 64;
  acquisition.sample_rate = Hertz(50e6);
  acquisition.events = {{std::move(form), {}}};
  return acquisition;
}

/// Rotated by `angle` from +z towards +x about the origin, then moved.
Probe tilted(Probe probe, double angle, Point by) {
  for (Element& element : probe.elements) {
    const Point p = element.centre;
    element.centre = {std::cos(angle) * p.x + std::sin(angle) * p.z + by.x, p.y + by.y,
                      std::cos(angle) * p.z - std::sin(angle) * p.x + by.z};
    element.normal = {std::sin(angle), 0.0, std::cos(angle)};
  }
  return probe;
}

std::string reason_against(const Acquisition& acquisition) {
  return test::input_error([&] { validate(acquisition, AcquisitionLimits{}, "Hello"); });
}

TEST(ProbeFrame, OfALinearArrayInContactIsTheGlobalOne) {
  const ProbeFrame frame = frame_of(of_form(ElementEvent{0}).probe);
  EXPECT_NEAR(frame.origin.x.value, 0.0, 1e-15);
  const Point point{Metres(1e-3), Metres(2e-3), Metres(3e-3)};
  const Point same = frame.to_probe(point);
  EXPECT_NEAR(same.x.value, 1e-3, 1e-15);
  EXPECT_NEAR(same.y.value, 2e-3, 1e-15);
  EXPECT_NEAR(same.z.value, 3e-3, 1e-15);
}

TEST(ProbeFrame, GoesWithAProbeThatIsTiltedAndMoved) {
  const Probe flat = of_form(ElementEvent{0}).probe;
  const ProbeFrame frame = frame_of(tilted(flat, 20 * degrees, {Metres(4e-3), Metres(1e-3), Metres(-9e-3)}));
  const Probe moved = tilted(flat, 20 * degrees, {Metres(4e-3), Metres(1e-3), Metres(-9e-3)});
  for (std::size_t i = 0; i < flat.elements.size(); ++i) {
    const Point p = frame.to_probe(moved.elements[i].centre);
    EXPECT_NEAR(p.x.value, flat.elements[i].centre.x.value, 1e-15);
    EXPECT_NEAR(p.z.value, 0.0, 1e-15);
    const Point back = frame.to_global(p);
    EXPECT_NEAR(back.x.value, moved.elements[i].centre.x.value, 1e-15);
    EXPECT_NEAR(back.y.value, 1e-3, 1e-15);
    EXPECT_NEAR(back.z.value, moved.elements[i].centre.z.value, 1e-15);
  }
}

TEST(Firings, OfAPlaneWaveFollowItsAngleAndTheEarliestIsAtZero) {
  const double velocity = 6000.0;
  for (const double angle : {-25.0, 0.0, 10.0, 60.0}) {
    const auto firings = firings_of(of_form(plane_wave(angle * degrees, MetresPerSecond(velocity))), 0);
    ASSERT_EQ(firings.size(), 8U);
    const double step = 0.5e-3 * std::sin(angle * degrees) / velocity;
    for (std::size_t i = 0; i < firings.size(); ++i) {
      EXPECT_EQ(firings[i].element, i);
      const double expected = step >= 0.0 ? step * static_cast<double>(i) : -step * static_cast<double>(7 - i);
      EXPECT_NEAR(firings[i].delay, expected, 1e-18) << angle << " degrees, element " << i;
    }
  }
}

TEST(Firings, OfAPlaneWaveTurnWithTheProbe) {
  Acquisition acquisition = of_form(plane_wave(15 * degrees, MetresPerSecond(1480.0)));
  const auto flat = firings_of(acquisition, 0);
  acquisition.probe = tilted(acquisition.probe, 12 * degrees, {Metres(0.0), Metres(0.0), Metres(-20e-3)});
  const auto turned = firings_of(acquisition, 0);
  for (std::size_t i = 0; i < flat.size(); ++i) EXPECT_NEAR(turned[i].delay, flat[i].delay, 1e-18);
}

TEST(Firings, OfAPlaneWaveOfACurvedArrayJoinInAPlane) {
  const double velocity = 1540.0;
  for (const double angle : {-20.0, 0.0, 12.0}) {
    PlaneWaveEvent wave = plane_wave(angle * degrees, MetresPerSecond(velocity));
    wave.slowness_z = std::cos(angle * degrees) / velocity;
    Acquisition acquisition = of_form(wave, 9);
    const Metres radius(4e-3);
    acquisition.probe = make_curvilinear_probe(9, Metres(0.5e-3), radius, Metres(0.4e-3), Hertz(5e6), Hertz(3e6));
    EXPECT_EQ(reason_against(acquisition), "");
    // Element i is at R (sin p, cos p - 1), p = (i - 4) 0.5 mm / R: the plane passes it at n . e / c.
    std::vector<double> passes;
    for (int i = 0; i < 9; ++i) {
      const double p = (i - 4) * 0.5e-3 / 4e-3;
      passes.push_back(4e-3 * (std::sin(p) * std::sin(angle * degrees) + (std::cos(p) - 1.0) * std::cos(angle * degrees)) /
                       velocity);
    }
    const double earliest = *std::ranges::min_element(passes);
    const auto firings = firings_of(acquisition, 0);
    ASSERT_EQ(firings.size(), 9U);
    for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(firings[i].delay, passes[i] - earliest, 1e-18) << angle << ", element " << i;
    // Of a part of it, turned and elsewhere, they are the same but for the earliest.
    std::get<PlaneWaveEvent>(acquisition.events[0].form).elements = {2, 7};
    acquisition.probe = tilted(acquisition.probe, 12 * degrees, {Metres(3e-3), Metres(0.0), Metres(-20e-3)});
    const auto some = firings_of(acquisition, 0);
    EXPECT_NEAR(some[1].delay - some[0].delay, passes[7] - passes[2], 1e-18);
  }
}

TEST(Firings, OfAStatedDelayCountFromTheProbesOrigin) {
  PlaneWaveEvent event{1e-4, 0.0, Seconds(2e-6), {5, 0}};
  const auto firings = firings_of(of_form(event), 0);
  ASSERT_EQ(firings.size(), 2U);
  EXPECT_EQ(firings[0].element, 5U);
  EXPECT_NEAR(firings[0].delay, 2e-6 + 1e-4 * 1.5 * 0.5e-3, 1e-18);
  EXPECT_NEAR(firings[1].delay, 2e-6 - 1e-4 * 3.5 * 0.5e-3, 1e-18);
}

TEST(Firings, DivergeFromAVirtualSourceAndMeetAtAFocus) {
  const MetresPerSecond velocity(5900.0);
  const Point source{Metres(1e-3), Metres(0.0), Metres(-6e-3)};
  const Point focus{Metres(-1e-3), Metres(0.0), Metres(12e-3)};
  const Acquisition diverging = of_form(PointWaveEvent{source, velocity, std::nullopt});
  const Acquisition converging = of_form(PointWaveEvent{focus, velocity, std::nullopt});
  const auto away = firings_of(diverging, 0);
  const auto towards = firings_of(converging, 0);
  double least_away = 1.0;
  double least_towards = 1.0;
  for (std::size_t i = 0; i < 8; ++i) {
    const double x = (static_cast<double>(i) - 3.5) * 0.5e-3;
    // As if the source had fired: delay less path is the same for all. At the focus: delay and path add up to the same.
    EXPECT_NEAR(away[i].delay - std::hypot(x - 1e-3, 6e-3) / 5900.0, away[0].delay - std::hypot(-2.75e-3, 6e-3) / 5900.0, 1e-18);
    EXPECT_NEAR(towards[i].delay + std::hypot(x + 1e-3, 12e-3) / 5900.0, towards[0].delay + std::hypot(-0.75e-3, 12e-3) / 5900.0,
                1e-18);
    least_away = std::min(least_away, away[i].delay);
    least_towards = std::min(least_towards, towards[i].delay);
  }
  EXPECT_EQ(least_away, 0.0);
  EXPECT_EQ(least_towards, 0.0);
  // Where the delay at the origin is stated, an element there would fire then.
  const auto stated = firings_of(of_form(PointWaveEvent{source, velocity, Seconds(1e-6)}, 9), 0);
  EXPECT_NEAR(stated[4].delay, 1e-6, 1e-18);
}

TEST(Firings, OfHadamardRowsAreOrthogonalInSylvestersOrder) {
  const std::size_t n = 16;
  Acquisition acquisition = of_form(ElementEvent{0}, n);
  acquisition.events = hadamard_events(n);
  ASSERT_EQ(acquisition.events.size(), n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = firings_of(acquisition, i);
    for (std::size_t j = 0; j < n; ++j) {
      const auto other = firings_of(acquisition, j);
      double product = 0.0;
      for (std::size_t k = 0; k < n; ++k) product += row[k].weight * other[k].weight;
      EXPECT_EQ(product, i == j ? static_cast<double>(n) : 0.0);
      EXPECT_EQ(row[j].weight, std::popcount(i & j) % 2 == 0 ? 1.0 : -1.0);
    }
  }
  EXPECT_TRUE(coded(acquisition));
  EXPECT_EQ(reason_against(acquisition), "");
  EXPECT_THROW(static_cast<void>(hadamard_events(12)), InputError);
}

TEST(Events, OfSeveralElementsAreExpectedShots) {
  Acquisition acquisition = of_form(plane_wave(0.0, MetresPerSecond(6000.0)));
  for (Element& element : acquisition.probe.elements) element.dead = true;
  acquisition.events.push_back({ElementEvent{3}, {1, 2}});
  const FrameLayout layout(acquisition);
  EXPECT_EQ(layout.rows(), 10U);
  EXPECT_EQ(layout.expected_shots(), 1U);
  EXPECT_FALSE(fires_single_elements(acquisition));
}

TEST(Events, MayBeMoreThanElementsUpToTheLimit) {
  Acquisition acquisition = of_form(plane_wave(0.0, MetresPerSecond(6000.0)));
  acquisition.events.resize(AcquisitionLimits{}.events, acquisition.events.front());
  EXPECT_EQ(reason_against(acquisition), "");
  acquisition.events.push_back(acquisition.events.front());
  EXPECT_EQ(reason_against(acquisition), "Hello events: found 4097; expected at most 4096");
}

TEST(Events, SayWhatIsWrongWithThem) {
  const MetresPerSecond velocity(6000.0);
  const auto of = [](TransmitForm form) { return reason_against(of_form(std::move(form))); };
  EXPECT_EQ(of(PlaneWaveEvent{NAN, 0.0, std::nullopt}),
            "Hello event 0: found a slowness of nan s/m; expected sin(angle) / velocity, up to 0.1 s/m");
  EXPECT_EQ(of(PlaneWaveEvent{0.0, 0.0, Seconds(2.0)}),
            "Hello event 0: found a delay of 2 s; expected a finite time between -1 s and 1 s");
  EXPECT_EQ(of(PlaneWaveEvent{0.0, 0.0, std::nullopt, {8}}), "Hello event 0: found element 8; expected elements 0 to 7");
  EXPECT_EQ(of(PlaneWaveEvent{0.0, 0.0, std::nullopt, {1, 1}}),
            "Hello event 0: found element 1 again; expected each element once");
  EXPECT_EQ(of(PointWaveEvent{{Metres(0.0), Metres(0.0), Metres(INFINITY)}, velocity, std::nullopt}),
            "Hello event 0: found a point at inf m; expected places within 1000 m of the probe");
  EXPECT_EQ(of(PointWaveEvent{{}, MetresPerSecond(0.0), std::nullopt}),
            "Hello event 0: found a velocity of 0 m/s; expected that of the delays, 1 to 100000 m/s");
  EXPECT_EQ(of(LawEvent{{}}), "Hello event 0: found a law of no elements; expected at least one that fires");
  EXPECT_EQ(of(LawEvent{{1, 2}, {1e-6F}}), "Hello event 0: found 1 delays of 2 elements; expected as many, or none");
  EXPECT_EQ(of(LawEvent{{1, 2}, {}, {1.0F, 0.0F}}),
            "Hello event 0: found a weight of 0; expected numbers of magnitude 1e-09 to 1e+09");
  EXPECT_EQ(of(LawEvent{{1, 2}, {0.0F, 1e-6F}, {1.0F, -1.0F}}),
            "Hello event 0: found weights of both signs and delays; expected a code without delays, or weights of one sign");
  EXPECT_EQ(of(CodeEvent{{1, 1}}), "Hello event 0: found 2 signs; expected one for each of the 8 elements");
  EXPECT_EQ(of(CodeEvent{std::vector<std::int8_t>(8)}),
            "Hello event 0: found a row of a code in which nobody fires; expected at least one element");

  Acquisition mixed = of_form(ElementEvent{0});
  mixed.events.push_back({CodeEvent{std::vector<std::int8_t>(8, 1)}, {}});
  EXPECT_EQ(reason_against(mixed),
            "Hello event 0: found no row of a code beside such rows; expected rows of a code in all events, or in none");
  // Weights of one sign are a row of a code where another one's have both.
  mixed.events = {{LawEvent{{0, 1}, {}, {0.5F, 2.0F}}, {}}, {LawEvent{{0, 1}, {}, {1.0F, -1.0F}}, {}}};
  EXPECT_EQ(reason_against(mixed), "");
  EXPECT_TRUE(coded(mixed));
  mixed.events = {{ElementEvent{0}, {}}, {ElementEvent{0}, {}}};
  EXPECT_EQ(reason_against(mixed), "Hello event 1: found element 0 again; expected each element in one event");

  Acquisition arc = of_form(plane_wave(0.0, velocity));
  arc.probe.elements.front().centre.z = Metres(-1e-3);
  EXPECT_EQ(reason_against(arc),
            "Hello event 0: found a plane wave without slowness_z, of an array that is 0.875 mm off flat; expected slowness_z = "
            "cos(angle) / velocity, which a curved array's delays need");
  std::get<PlaneWaveEvent>(arc.events[0].form).slowness_z = 1.0 / 6000.0;
  EXPECT_EQ(reason_against(arc), "");
  std::get<PlaneWaveEvent>(arc.events[0].form).slowness_z = -1.0 / 6000.0;
  EXPECT_EQ(
      reason_against(arc),
      "Hello event 0: found a slowness of -0.00016666666666666666 s/m along z; expected cos(angle) / velocity, 0 to 0.1 s/m");
}

Acquisition of_light() {
  Acquisition acquisition = of_form(PassiveEvent{Metres(800e-9), 1e-3});
  for (std::size_t i = 0; i < acquisition.elements(); ++i) {
    const double angle = 2.0 * std::numbers::pi * static_cast<double>(i) / 8.0;
    Element& element = acquisition.probe.elements[i];
    element.centre = {Metres(0.04 * std::cos(angle)), Metres(0.0), Metres(0.04 * std::sin(angle))};
    element.normal = {-std::cos(angle), 0.0, -std::sin(angle)};
  }
  return acquisition;
}

TEST(PassiveEvents, AreHeardByDetectorsThatFaceAnywhere) {
  Acquisition acquisition = of_light();
  EXPECT_EQ(reason_against(acquisition), "");
  acquisition.events = {{PassiveEvent{}, {}}, {PassiveEvent{}, {7, 0}}, {PassiveEvent{Metres(1.0), 1e3}, {}}};
  EXPECT_EQ(reason_against(acquisition), "");
  EXPECT_EQ(FrameLayout(acquisition).rows(), 18U);
  EXPECT_TRUE(firings_of(acquisition, 0).empty());
  EXPECT_FALSE(coded(acquisition));
  EXPECT_EQ(forms_text(acquisition.events), "3 passive events");
}

TEST(PassiveEvents, AtPositionsThatTurnTheDetectorsAnywhere) {
  Acquisition acquisition = of_light();
  acquisition.positions = {{}, {{}, {1.0, 0.0, 0.0}, {0.0, -1.0, 0.0}}, {{}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};
  acquisition.events = {{PassiveEvent{}, {}, 2}, {PassiveEvent{}, {}, 0}, {PassiveEvent{}, {}, 1}};
  EXPECT_EQ(reason_against(acquisition), "");
  for (TransmitEvent& event : acquisition.events) event.form = ElementEvent{0};
  EXPECT_NE(reason_against(acquisition), "");
}

TEST(PassiveEvents, SayWhatIsWrongWithThem) {
  const auto of = [](TransmitForm form) { return reason_against(of_form(std::move(form))); };
  EXPECT_EQ(of(PassiveEvent{Metres(800.0)}), "Hello event 0: found light of 800 m; expected 0 (unknown), or 1e-09 to 1 m");
  EXPECT_EQ(of(PassiveEvent{Metres(-8e-7)}), "Hello event 0: found light of -8e-07 m; expected 0 (unknown), or 1e-09 to 1 m");
  EXPECT_EQ(of(PassiveEvent{Metres(NAN)}), "Hello event 0: found light of nan m; expected 0 (unknown), or 1e-09 to 1 m");
  EXPECT_EQ(of(PassiveEvent{Metres(8e-7), -1.0}),
            "Hello event 0: found a pulse of -1 J; expected 0 (unknown), or 1e-15 to 1000 J");
  EXPECT_EQ(of(PassiveEvent{Metres(8e-7), 2e3}),
            "Hello event 0: found a pulse of 2000 J; expected 0 (unknown), or 1e-15 to 1000 J");
  EXPECT_EQ(of(PassiveEvent{Metres(8e-7), NAN}),
            "Hello event 0: found a pulse of nan J; expected 0 (unknown), or 1e-15 to 1000 J");

  Acquisition mixed = of_form(PassiveEvent{});
  mixed.events.push_back({ElementEvent{3}, {}});
  EXPECT_EQ(reason_against(mixed), "Hello event 0: found a passive event beside others; expected passive events alone, or none");
  std::swap(mixed.events[0], mixed.events[1]);
  EXPECT_EQ(reason_against(mixed), "Hello event 1: found a passive event beside others; expected passive events alone, or none");
  Acquisition half = of_form(PassiveEvent{});
  half.matrix = MatrixKind::half;
  EXPECT_EQ(reason_against(half), "Hello events: found events and a half matrix; expected one of both");

  Acquisition nowhere = of_light();
  nowhere.probe.elements[5].normal = {0.0, 0.0, 0.0};
  EXPECT_EQ(reason_against(nowhere), "Hello element 5: found a normal of length 0; expected the direction that it faces");
  Acquisition other = of_light();
  other.events[0].receivers = {8};
  EXPECT_EQ(reason_against(other), "Hello event 0: found receiver 8; expected elements 0 to 7");
}

}  // namespace
}  // namespace echoform
