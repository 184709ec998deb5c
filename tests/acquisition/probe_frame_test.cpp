// Coordinates of a probe that is turned about all axes, and the words for where detectors look.
#include "acquisition/probe_frame.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "acquisition/acquisition.hpp"
#include "acquisition/facing.hpp"
#include "acquisition/positions.hpp"

namespace echoform::test {
namespace {

/// A rotation without a 0 in it, so that every product counts.
ProbeFrame turned_frame() {
  return {{Metres(1.0), Metres(2.0), Metres(3.0)},
          {2.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0},
          {2.0 / 3.0, 2.0 / 3.0, -1.0 / 3.0},
          {-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0}};
}

TEST(ProbeFrame, EveryAxisHasItsPartOfEveryCoordinate) {
  const ProbeFrame frame = turned_frame();
  constexpr double rounding = 1e-12;  // of numbers up to 100
  const Direction direction = frame.to_global(Direction{1.0, 10.0, 100.0});
  EXPECT_NEAR(direction.x, -26.0, rounding);
  EXPECT_NEAR(direction.y, 73.0, rounding);
  EXPECT_NEAR(direction.z, 64.0, rounding);
  const Point place = frame.to_global(Point{Metres(1.0), Metres(10.0), Metres(100.0)});
  EXPECT_NEAR(place.x.value, -25.0, rounding);
  EXPECT_NEAR(place.y.value, 75.0, rounding);
  EXPECT_NEAR(place.z.value, 67.0, rounding);
  const Point back = frame.to_probe(place);
  EXPECT_NEAR(back.x.value, 1.0, rounding);
  EXPECT_NEAR(back.y.value, 10.0, rounding);
  EXPECT_NEAR(back.z.value, 100.0, rounding);
}

TEST(PlacedProbe, EveryAxisHasItsPartOfEveryCoordinate) {
  const ProbeFrame frame = turned_frame();
  Probe probe = make_linear_probe(1, Metres(1e-3), Metres(1e-3), Hertz(5e6), Hertz(0.0));
  probe.elements[0].centre = {Metres(1.0), Metres(10.0), Metres(100.0)};
  probe.elements[0].normal = {0.6, 0.0, 0.8};
  const Element element = placed(probe, Pose{frame.origin, frame.x, frame.y}).elements[0];
  constexpr double rounding = 1e-12;
  EXPECT_NEAR(element.centre.x.value, -25.0, rounding);
  EXPECT_NEAR(element.centre.y.value, 75.0, rounding);
  EXPECT_NEAR(element.centre.z.value, 67.0, rounding);
  EXPECT_NEAR(element.normal.x, 0.4 / 3.0, rounding);
  EXPECT_NEAR(element.normal.y, 1.0 / 3.0, rounding);
  EXPECT_NEAR(element.normal.z, 2.8 / 3.0, rounding);
}

TEST(FacingText, OfFewDetectorsIsTheMeanOfTheirNormalsAlone) {
  const auto facing = [](const Direction& normal) {
    std::vector<Detector> detectors(2);
    for (Detector& detector : detectors) detector.normal = normal;
    detectors[1].centre.y = Metres(1e-3);
    return facing_text(detectors);
  };
  EXPECT_EQ(facing({1.0, 0.0, 0.0}), "towards +x");
  EXPECT_EQ(facing({0.0, -1.0, 0.0}), "towards -y");
  EXPECT_EQ(facing({0.0, 0.0, -1.0}), "towards -z");
  EXPECT_EQ(facing({0.0, 0.6, 0.8}), "towards (0, 0.6, 0.8)");
}

}  // namespace
}  // namespace echoform::test
