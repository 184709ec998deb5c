#include "simulators/detector_array.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "acquisition/detectors.hpp"
#include "acquisition/frame_layout.hpp"
#include "base/errors.hpp"
#include "tests/sound/scene.hpp"

namespace echoform::test {
namespace {

using testing::ThrowsMessage;

DetectorArray array_of(DetectorKind kind) {
  DetectorArray array;
  array.kind = kind;
  return array;
}

void expect_point(const Point& point, double x, double y, double z) {
  EXPECT_NEAR(point.x.value, x, 1e-15);
  EXPECT_NEAR(point.y.value, y, 1e-15);
  EXPECT_NEAR(point.z.value, z, 1e-15);
}

/// All at `radius` from the centre, facing it.
void expect_inwards(const std::vector<Detector>& detectors, const Point& centre, double radius) {
  for (const Detector& d : detectors) {
    const double x = (d.centre.x - centre.x).value;
    const double y = (d.centre.y - centre.y).value;
    const double z = (d.centre.z - centre.z).value;
    EXPECT_NEAR(std::hypot(x, y, z), radius, 1e-15);
    EXPECT_NEAR(d.normal.x, -x / radius, 1e-13);
    EXPECT_NEAR(d.normal.y, -y / radius, 1e-13);
    EXPECT_NEAR(d.normal.z, -z / radius, 1e-13);
  }
}

std::vector<Detector> detectors_at(const DetectorArray& array) {
  validate(array, {}, "[detectors]");
  Acquisition acquisition = acquisition_of_detectors(array);
  acquisition.samples = 16;
  acquisition.sample_rate = Hertz(1e6);
  validate(acquisition, {}, "[detectors]");
  return detectors_of(acquisition);
}

TEST(DetectorArrays, OfARingStandInThePlaneOfXAndZ) {
  DetectorArray array = array_of(DetectorKind::ring);
  array.count = 4;
  array.radius = Metres(0.04);
  array.centre = {Metres(0.001), Metres(0.002), Metres(0.003)};
  array.element_width = Metres(1e-3);
  array.element_length = Metres(15e-3);
  const std::vector<Detector> ring = detectors_at(array);
  ASSERT_EQ(ring.size(), 4U);
  expect_point(ring[0].centre, 0.001, 0.002, 0.043);
  expect_point(ring[1].centre, 0.041, 0.002, 0.003);
  expect_point(ring[2].centre, 0.001, 0.002, -0.037);
  expect_inwards(ring, {Metres(0.001), Metres(0.002), Metres(0.003)}, 0.04);
  for (const Detector& detector : ring) {
    EXPECT_NEAR(detector.across.y, 0.0, 1e-15) << "widths lie along the ring, that which faces along x too";
    EXPECT_EQ(detector.length.value, 15e-3);
  }
}

TEST(DetectorArrays, OfAPartOfARingReachFromTheFirstToTheLastAngle) {
  DetectorArray array = array_of(DetectorKind::ring);
  array.count = 3;
  array.radius = Metres(0.04);
  array.angles = {-45.0, 225.0};
  const std::vector<Detector> ring = detectors_at(array);
  expect_point(ring[0].centre, -0.04 * std::sin(pi / 4), 0.0, 0.04 * std::cos(pi / 4));
  expect_point(ring[1].centre, 0.04, 0.0, 0.0);
  expect_point(ring[2].centre, -0.04 * std::sin(pi / 4), 0.0, -0.04 * std::cos(pi / 4));
}

TEST(DetectorArrays, OfAnArcThatTurnsAreRingsOfTheSphereThatItGoesOver) {
  DetectorArray array = array_of(DetectorKind::arc);
  array.count = 128;
  array.angles = {180.0 / 256.0, 180.0 - 180.0 / 256.0};
  array.positions = 90;
  array.radius = Metres(0.065);
  const Acquisition acquisition = acquisition_of_detectors(array);
  EXPECT_EQ(acquisition.positions.size(), 90U);
  EXPECT_EQ(acquisition.events.size(), 90U);
  const std::vector<Detector> rows = detectors_at(array);
  ASSERT_EQ(rows.size(), 128U * 90U);
  expect_inwards(rows, {}, 0.065);
  for (const std::size_t m : {0U, 17U, 89U}) {
    for (const std::size_t n : {0U, 1U, 64U, 127U}) {
      const double theta = pi / 256.0 + static_cast<double>(n) * pi / 128.0;
      const double phi = 4.0 * static_cast<double>(m) * pi / 180.0;
      const Detector& detector = rows[m * 128 + n];
      expect_point(detector.centre, 0.065 * std::sin(theta) * std::cos(phi), 0.065 * std::sin(theta) * std::sin(phi),
                   0.065 * std::cos(theta));
      // Along the arc.
      EXPECT_NEAR(std::abs(detector.across.x * std::cos(theta) * std::cos(phi) +
                           detector.across.y * std::cos(theta) * std::sin(phi) - detector.across.z * std::sin(theta)),
                  1.0, 1e-13);
    }
  }
  // The same without angles: equal parts.
  array.angles.reset();
  const std::vector<Detector> equal = detectors_at(array);
  EXPECT_NEAR(equal[129].centre.x.value, rows[129].centre.x.value, 1e-15);
  EXPECT_NEAR(equal[129].centre.z.value, rows[129].centre.z.value, 1e-15);
}

TEST(DetectorArrays, OfAnArcOfOneAzimuthHaveNoPositions) {
  DetectorArray array = array_of(DetectorKind::arc);
  array.count = 2;
  array.angles = {0.0, 90.0};
  array.positions = 1;
  array.azimuths = {90.0, 90.0};
  array.centre = {Metres(0.0), Metres(0.0), Metres(0.01)};
  EXPECT_TRUE(places_of(array).positions.empty());
  const std::vector<Detector> rows = detectors_at(array);
  expect_point(rows[0].centre, 0.0, 0.0, 0.05);
  expect_point(rows[1].centre, 0.0, 0.04, 0.01);
  array.positions = 3;
  array.azimuths = {0.0, 90.0};
  EXPECT_NEAR(detectors_at(array)[3].centre.y.value, 0.04 * std::sin(pi / 4), 1e-15);
}

TEST(DetectorArrays, OfSpheresAreRingsOfConstantAngle) {
  DetectorArray array = array_of(DetectorKind::sphere);
  array.counts = {1, 4, 4, 1};
  array.angles = {0.0, 180.0};
  const std::vector<Detector> sphere = detectors_at(array);
  ASSERT_EQ(sphere.size(), 10U);
  expect_inwards(sphere, {}, 0.04);
  expect_point(sphere[0].centre, 0.0, 0.0, 0.04);
  expect_point(sphere[2].centre, 0.0, 0.04 * std::sin(pi / 3), 0.04 * std::cos(pi / 3));
  expect_point(sphere[9].centre, 0.0, 0.0, -0.04);

  DetectorArray half = array_of(DetectorKind::hemisphere);
  const std::vector<Detector> bowl = detectors_at(half);
  EXPECT_EQ(bowl.size(), 256U);
  expect_inwards(bowl, {}, 0.04);
  for (const Detector& detector : bowl) EXPECT_GT(detector.normal.z, 0.0);
}

TEST(DetectorArrays, OfPlanesAndLinesFaceTheDepth) {
  DetectorArray array = array_of(DetectorKind::plane);
  array.count = 3;
  array.rows = 2;
  array.pitch = Metres(1e-3);
  array.row_pitch = Metres(4e-3);
  array.centre = {Metres(0.0), Metres(0.0), Metres(-5e-3)};
  const std::vector<Detector> plane = detectors_at(array);
  ASSERT_EQ(plane.size(), 6U);
  expect_point(plane[0].centre, -1e-3, -2e-3, -5e-3);
  expect_point(plane[5].centre, 1e-3, 2e-3, -5e-3);
  EXPECT_EQ(plane[5].normal, (Direction{0.0, 0.0, 1.0}));
  DetectorArray line = array_of(DetectorKind::line);
  EXPECT_EQ(detectors_at(line).size(), 256U);
  EXPECT_NEAR(detectors_at(line)[255].centre.x.value, 127.5 * 0.5e-3, 1e-15);
}

TEST(DetectorArrays, HearEveryPulseAtEveryPosition) {
  DetectorArray array = array_of(DetectorKind::ring);
  const std::vector<PassiveEvent> pulses{{Metres(700e-9), 0.01}, {Metres(800e-9), 0.02}, {Metres(900e-9), 0.0}};
  const std::vector<Pose> positions{{}, {{Metres(0.0), Metres(1e-3), Metres(0.0)}}};
  const Acquisition acquisition = acquisition_of_detectors(array, pulses, positions);
  ASSERT_EQ(acquisition.events.size(), 6U);
  for (std::size_t event = 0; event < 6; ++event) {
    EXPECT_EQ(acquisition.events[event].position, event / 3);
    EXPECT_EQ(std::get<PassiveEvent>(acquisition.events[event].form), pulses[event % 3]);
  }
  EXPECT_EQ(acquisition.positions, positions);
}

struct BadArray {
  std::string name;
  DetectorKind kind;
  std::function<void(DetectorArray&)> spoil;
  std::string message;
};

void PrintTo(const BadArray& bad, std::ostream* out) {
  *out << bad.name;
}

class BadDetectors : public testing::TestWithParam<BadArray> {};

TEST_P(BadDetectors, AreRefusedInOneLine) {
  DetectorArray array = array_of(GetParam().kind);
  GetParam().spoil(array);
  EXPECT_THAT([&] { validate(array, {}, "[detectors]"); }, ThrowsMessage<InputError>("[detectors] " + GetParam().message));
}

const BadArray bad_arrays[] = {
    {"NoKind", DetectorKind::none, [](auto&) {},
     "kind: found none; expected \"ring\", \"arc\", \"sphere\", \"hemisphere\", \"plane\" or \"line\""},
    {"RowsOfARing", DetectorKind::ring, [](auto& a) { a.rows = 2; },
     "rows: found a value; expected no such key but of a sphere, a hemisphere and a plane"},
    {"RadiusOfALine", DetectorKind::line, [](auto& a) { a.radius = Metres(0.04); },
     "radius: found a value; expected no such key but of a ring, an arc, a sphere and a hemisphere"},
    {"AzimuthsOfASphere", DetectorKind::sphere,
     [](auto& a) {
       a.azimuths = {0.0, 90.0};
     },
     "azimuths: found a value; expected no such key but of an arc"},
    {"PitchOfARing", DetectorKind::ring, [](auto& a) { a.pitch = Metres(1e-3); },
     "pitch: found a value; expected no such key but of a plane and a line"},
    {"FullCircle", DetectorKind::ring,
     [](auto& a) {
       a.angles = {-180.0, 180.0};
     },
     "angles: found -180 to 180, the first place again; expected less than a full turn, or no such key for one"},
    {"Backwards", DetectorKind::arc,
     [](auto& a) {
       a.angles = {90.0, 10.0};
     },
     "angles: found 90 to 10; expected the lesser first, within 0 to 180 degrees"},
    {"BeyondThePole", DetectorKind::sphere,
     [](auto& a) {
       a.angles = {0.0, 190.0};
     },
     "angles: found 0 to 190; expected the lesser first, within 0 to 180 degrees"},
    {"TwoPlacesForOne", DetectorKind::ring,
     [](auto& a) {
       a.count = 1;
       a.angles = {0.0, 10.0};
     },
     "angles: found 0 to 10; expected one angle twice, for one place, within -360 to 360 degrees"},
    {"TooMany", DetectorKind::sphere, [](auto& a) { a.count = 100; },
     "count: found 1600 detectors in all; expected at most 1024"},
    {"CountsForOtherRings", DetectorKind::sphere,
     [](auto& a) {
       a.rows = 3;
       a.counts = {4, 4};
     },
     "counts: found 2 for 3 rings; expected one for each"},
    {"CountAndCounts", DetectorKind::sphere,
     [](auto& a) {
       a.count = 3;
       a.counts = {4, 4};
     },
     "counts: found a count beside it; expected one of both"},
    {"TooManyPositions", DetectorKind::arc, [](auto& a) { a.positions = 257; }, "positions: found 257; expected 1 to 256"},
    {"NoSize", DetectorKind::ring, [](auto& a) { a.radius = Metres(0.0); }, "radius: found 0; expected 0.0001 to 10 m"},
    {"NotANumber", DetectorKind::ring, [](auto& a) { a.element_width = Metres(std::nan("")); },
     "element_width: found nan; expected 0 to 0.2 m"},
};

INSTANTIATE_TEST_SUITE_P(All, BadDetectors, testing::ValuesIn(bad_arrays), [](const auto& bad) { return bad.param.name; });

}  // namespace
}  // namespace echoform::test
