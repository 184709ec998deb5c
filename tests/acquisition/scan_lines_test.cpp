// Lines of events, against directions that are written out by hand.
#include "acquisition/scan_lines.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "acquisition/firings.hpp"
#include "base/directions.hpp"

namespace echoform {
namespace {

constexpr double in_radians = std::numbers::pi / 180.0;
constexpr MetresPerSecond tissue(1540.0);
constexpr Metres line_pitch(0.3e-3);

Acquisition sent_by(TransmitForm form, std::size_t elements = 64) {
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(elements, line_pitch, Metres(0.25e-3), Hertz(5e6), Hertz(3e6));
  acquisition.samples = 64;
  acquisition.sample_rate = Hertz(40e6);
  acquisition.events = {{std::move(form), {}}};
  return acquisition;
}

std::vector<std::uint32_t> range(std::uint32_t first, std::uint32_t count) {
  std::vector<std::uint32_t> elements(count);
  std::iota(elements.begin(), elements.end(), first);
  return elements;
}

/// On an arc of `radius` whose foremost place is the origin.
Probe arc(std::size_t count, double radius) {
  Probe probe = make_linear_probe(count, line_pitch, Metres(0.25e-3), Hertz(5e6), Hertz(3e6));
  for (Element& element : probe.elements) {
    const double angle = element.centre.x.value / radius;
    element.centre = {Metres(radius * std::sin(angle)), Metres(0.0), Metres(radius * (std::cos(angle) - 1.0))};
    element.normal = {std::sin(angle), 0.0, std::cos(angle)};
  }
  return probe;
}

/// Rotated by `angle` from +z towards +x about the origin, then moved.
Probe turned(Probe probe, double angle, const Point& by) {
  for (Element& element : probe.elements) {
    const Point p = element.centre;
    element.centre = {std::cos(angle) * p.x + std::sin(angle) * p.z + by.x, p.y + by.y,
                      std::cos(angle) * p.z - std::sin(angle) * p.x + by.z};
    const Direction n = element.normal;
    element.normal = {std::cos(angle) * n.x + std::sin(angle) * n.z, n.y, std::cos(angle) * n.z - std::sin(angle) * n.x};
  }
  probe.x_axis = {std::cos(angle), 0.0, -std::sin(angle)};
  return probe;
}

Point along(const Point& origin, const Direction& direction, double range) {
  return {origin.x + Metres(range * direction.x), origin.y + Metres(range * direction.y), origin.z + Metres(range * direction.z)};
}

/// As a recording has it: what the event comes to, in float.
Acquisition as_law(Acquisition acquisition) {
  LawEvent law;
  for (const Firing& firing : firings_of(acquisition, 0)) {
    law.elements.push_back(firing.element);
    law.delays.push_back(static_cast<float>(firing.delay));
  }
  acquisition.events.front().form = std::move(law);
  return acquisition;
}

void expect_line(const Acquisition& acquisition, const Point& origin, const Direction& direction, double tolerance = 1e-9) {
  const auto line = line_of_event(acquisition, 0, tissue);
  ASSERT_TRUE(line.has_value());
  EXPECT_NEAR(line->origin.x.value, origin.x.value, 1e-9);
  EXPECT_NEAR(line->origin.y.value, origin.y.value, 1e-9);
  EXPECT_NEAR(line->origin.z.value, origin.z.value, 1e-9);
  EXPECT_NEAR(line->direction.x, direction.x, tolerance);
  EXPECT_NEAR(line->direction.y, direction.y, tolerance);
  EXPECT_NEAR(line->direction.z, direction.z, tolerance);
}

/// Delays in float are right to 1e-12 s, 1.5 nm of an aperture of 10 mm and more; steps of Gauss and Newton end at rounding.
constexpr double law_tolerance = 1e-5;

TEST(ScanLines, OfASectorLeadFromTheArraysCentreToTheirFoci) {
  for (const double angle : {-45.0, -7.5, 0.0, 30.0}) {
    const Direction direction{std::sin(angle * in_radians), 0.0, std::cos(angle * in_radians)};
    const Acquisition acquisition = sent_by(PointWaveEvent{along({}, direction, 60e-3), tissue, {}, {}});
    expect_line(acquisition, {}, direction);
    expect_line(as_law(acquisition), {}, direction, law_tolerance);
  }
}

TEST(ScanLines, OfWalkingAperturesAreParallel) {
  for (const std::uint32_t first : {0U, 11U, 40U}) {
    const Metres x = line_pitch * (first + 11.5 - 31.5);
    const Acquisition acquisition =
        sent_by(PointWaveEvent{{x, Metres(0.0), Metres(20e-3)}, tissue, Seconds(0.0), range(first, 24)});
    expect_line(acquisition, {x, Metres(0.0), Metres(0.0)}, {0.0, 0.0, 1.0});
    expect_line(as_law(acquisition), {x, Metres(0.0), Metres(0.0)}, {0.0, 0.0, 1.0}, law_tolerance);
  }
}

TEST(ScanLines, OfAnApertureThatTheArrayCutsOffAreTiltedAsTheirSoundIs) {
  const Metres focus_x = line_pitch * -31.5;
  const Metres centre_x = line_pitch * (5.5 - 31.5);
  const Acquisition acquisition =
      sent_by(PointWaveEvent{{focus_x, Metres(0.0), Metres(20e-3)}, tissue, Seconds(0.0), range(0, 12)});
  const double length = std::hypot((focus_x - centre_x).value, 20e-3);
  expect_line(acquisition, {centre_x, Metres(0.0), Metres(0.0)}, {(focus_x - centre_x).value / length, 0.0, 20e-3 / length});
}

TEST(ScanLines, OfVirtualSourcesLeadAwayFromThem) {
  const Direction direction{std::sin(20.0 * in_radians), 0.0, std::cos(20.0 * in_radians)};
  const Acquisition acquisition = sent_by(PointWaveEvent{along({}, direction, -12e-3), tissue, {}, {}});
  expect_line(acquisition, {}, direction);
  expect_line(as_law(acquisition), {}, direction, law_tolerance);
  // At the aperture's centre: no direction but that of the elements.
  expect_line(sent_by(PointWaveEvent{{}, tissue, {}, {}}), {}, {0.0, 0.0, 1.0});
}

TEST(ScanLines, OfPlaneWavesAreTheirNormalsInTheMedium) {
  const double a = -25.0 * in_radians;
  const double b = 10.0 * in_radians;
  const Direction normal{std::sin(a) * std::cos(b), std::sin(b), std::cos(a) * std::cos(b)};
  const PlaneWaveEvent wave{normal.x / tissue.value, normal.y / tissue.value, {}, range(10, 20)};
  const Metres x = line_pitch * (19.5 - 31.5);
  expect_line(sent_by(wave), {x, Metres(0.0), Metres(0.0)}, normal);
  expect_line(as_law(sent_by(plane_wave(a, tissue))), {}, {std::sin(a), 0.0, std::cos(a)}, law_tolerance);
  EXPECT_FALSE(line_of_event(sent_by(plane_wave(60.0 * in_radians, tissue)), 0, MetresPerSecond(2000.0)).has_value());
}

TEST(ScanLines, OfSingleElementsAreTheirNormals) {
  const Metres x = line_pitch * (7 - 31.5);
  expect_line(sent_by(ElementEvent{7}), {x, Metres(0.0), Metres(0.0)}, {0.0, 0.0, 1.0});
  expect_line(sent_by(LawEvent{{7}, {1e-6F}, {}}), {x, Metres(0.0), Metres(0.0)}, {0.0, 0.0, 1.0});
  Acquisition full = sent_by(ElementEvent{0});
  full.events.clear();
  const auto line = line_of_event(full, 7, tissue);
  ASSERT_TRUE(line.has_value());
  EXPECT_NEAR(line->origin.x.value, x.value, 1e-12);
  EXPECT_EQ(line->direction, Direction{});
}

TEST(ScanLines, OfACurvilinearArrayBeginOnItAlongItsNormals) {
  constexpr double radius = 40e-3;
  for (const auto& [first, count] : {std::pair{0U, 24U}, std::pair{20U, 24U}, std::pair{97U, 31U}}) {
    Acquisition acquisition = sent_by(ElementEvent{0});
    acquisition.probe = arc(128, radius);
    const double angle = line_pitch.value * (first + 0.5 * (count - 1) - 63.5) / radius;
    const Direction normal{std::sin(angle), 0.0, std::cos(angle)};
    const Point global{Metres(radius * normal.x), Metres(0.0), Metres(radius * (normal.z - 1.0))};
    const ProbeFrame frame = frame_of(acquisition.probe);
    acquisition.events.front().form =
        PointWaveEvent{frame.to_probe(along(global, normal, 50e-3)), tissue, Seconds(0.0), range(first, count)};
    const auto line = line_of_event(acquisition, 0, tissue);
    ASSERT_TRUE(line.has_value());
    const Point origin = frame.to_global(line->origin);
    // An even number of elements has a chord of two in its middle: half a line_pitch off the arc's top by its sagitta.
    const double sagitta = count % 2 == 0 ? line_pitch.value * line_pitch.value / (8.0 * radius) : 0.0;
    EXPECT_NEAR(length(between(global, origin)), sagitta, 1e-9);
    EXPECT_NEAR(line->direction.x, normal.x, 1e-9);
    EXPECT_NEAR(line->direction.z, normal.z, 1e-9);
    const auto of_law = line_of_event(as_law(acquisition), 0, tissue);
    ASSERT_TRUE(of_law.has_value());
    EXPECT_NEAR(of_law->direction.x, normal.x, law_tolerance);
  }
}

TEST(ScanLines, OfAMatrixArrayHaveTwoAngles) {
  Acquisition acquisition = sent_by(ElementEvent{0});
  acquisition.probe = make_matrix_probe({.columns = 16,
                                         .rows = 12,
                                         .pitch = line_pitch,
                                         .row_pitch = line_pitch,
                                         .width = Metres(0.2e-3),
                                         .length = Metres(0.2e-3)},
                                        Hertz(3e6), Hertz(2e6));
  const double a = 20.0 * in_radians;
  const double b = -30.0 * in_radians;
  const Direction direction{std::sin(a) * std::cos(b), std::sin(b), std::cos(a) * std::cos(b)};
  acquisition.events.front().form = PointWaveEvent{along({}, direction, 40e-3), tissue, {}, {}};
  expect_line(acquisition, {}, direction);
  expect_line(as_law(acquisition), {}, direction, law_tolerance);
}

TEST(ScanLines, GoWithTheProbe) {
  const Direction direction{std::sin(15.0 * in_radians), 0.0, std::cos(15.0 * in_radians)};
  Acquisition acquisition = sent_by(PointWaveEvent{along({}, direction, 30e-3), tissue, {}, {}});
  acquisition.probe = turned(acquisition.probe, 25.0 * in_radians, {Metres(5e-3), Metres(0.0), Metres(-9e-3)});
  expect_line(acquisition, {}, direction);
}

TEST(ScanLines, CountDeadElementsIn) {
  const Metres x = line_pitch * (11.5 - 31.5);
  Acquisition acquisition = sent_by(PointWaveEvent{{x, Metres(0.0), Metres(20e-3)}, tissue, Seconds(0.0), range(0, 24)});
  for (const std::size_t element : {0U, 1U, 2U}) acquisition.probe.elements[element].dead = true;
  expect_line(acquisition, {x, Metres(0.0), Metres(0.0)}, {0.0, 0.0, 1.0});
}

TEST(ScanLines, AreNotThereForCodesAndForDelaysOfNoWave) {
  CodeEvent code{std::vector<std::int8_t>(64, 1)};
  EXPECT_FALSE(line_of_event(sent_by(code), 0, tissue).has_value());
  EXPECT_FALSE(line_of_event(sent_by(LawEvent{{0, 1}, {}, {1.0F, -1.0F}}), 0, tissue).has_value());
  std::mt19937 random(7);
  std::uniform_real_distribution<float> delay(0.0F, 2e-6F);
  LawEvent law{range(0, 64), {}, {}};
  for (std::size_t i = 0; i < 64; ++i) law.delays.push_back(delay(random));
  EXPECT_FALSE(line_of_event(sent_by(law), 0, tissue).has_value());
}

}  // namespace
}  // namespace echoform
