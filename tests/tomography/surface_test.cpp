#include "methods/tomography/surface.hpp"

#include <gmock/gmock.h>

#include <numeric>

#include "tests/tomography/passive_frames.hpp"

namespace echoform::test {
namespace {

constexpr double pi = std::numbers::pi;

DetectorShares shares_for(const std::vector<Detector>& detectors, WholeAngle wish = WholeAngle::automatic) {
  return shares_of(detectors, surface_of(detectors), wish, {Metres(0.0), Metres(0.0), Metres(0.03)});
}

double sum_of(const DetectorShares& shares) {
  return std::accumulate(shares.sizes.begin(), shares.sizes.end(), 0.0);
}

TEST(DetectorSurfaces, OfRotatedArcsAreSpheresInZones) {
  const std::vector<Detector> detectors = detectors_of(rotated_arc(16, 24, 65e-3));
  const DetectorSurface surface = surface_of(detectors);
  EXPECT_EQ(surface.shape, SurfaceShape::sphere);
  EXPECT_FALSE(surface.flat);
  EXPECT_NEAR(surface.radius.value, 65e-3, 1e-9);
  EXPECT_NEAR(length(between({}, surface.centre)), 0.0, 1e-9);
  const DetectorShares shares = shares_for(detectors);
  EXPECT_EQ(shares.how, "areas of 16 zones about z");
  EXPECT_NEAR(shares.whole, 4.0 * pi, 1e-12);
  EXPECT_NEAR(sum_of(shares), 4.0 * pi * 65e-3 * 65e-3, 1e-9);
  // Row 5 of a view: between the angles 5 pi / 16 and 6 pi / 16.
  const double zone = 2.0 * pi * 65e-3 * 65e-3 * (std::cos(5.0 * pi / 16.0) - std::cos(6.0 * pi / 16.0));
  EXPECT_NEAR(shares.sizes[16 + 5], zone / 24.0, 1e-12);
}

TEST(DetectorSurfaces, OfRingsOfACapAreHalf) {
  Acquisition acquisition = rotated_arc(20, 30, 40e-3);
  acquisition.probe.elements.resize(9);
  const DetectorShares shares = shares_for(detectors_of(acquisition));
  EXPECT_NEAR(shares.whole, 2.0 * pi, 1e-12);
  EXPECT_NEAR(shares.angle, 2.0 * pi * (1.0 - std::cos(9.0 * pi / 20.0)), 1e-9);
  EXPECT_NEAR(shares_for(detectors_of(acquisition), WholeAngle::all_around).whole, 4.0 * pi, 1e-12);
}

TEST(DetectorSurfaces, OfSpreadPlacesOnASphereHaveEqualShares) {
  Acquisition acquisition = passive(100, 20e6, 0.0);
  for (int k = 0; k < 101; ++k) {  // a spiral of the golden angle
    const double z = 1.0 - (2.0 * k + 1.0) / 101.0;
    const double turn = k * pi * (3.0 - std::sqrt(5.0));
    const double r = std::sqrt(1.0 - z * z);
    acquisition.probe.elements.push_back(inward(0.03 * r * std::cos(turn), 0.03 * r * std::sin(turn), 0.03 * z));
  }
  acquisition.events = {{PassiveEvent{}, {}, 0}};
  const DetectorShares shares = shares_for(detectors_of(acquisition));
  EXPECT_EQ(shares.how, "equal shares");
  EXPECT_NEAR(shares.whole, 4.0 * pi, 1e-12);
  for (const double size : shares.sizes) EXPECT_NEAR(size, 4.0 * pi * 0.03 * 0.03 / 101.0, 1e-12);
}

TEST(DetectorSurfaces, OfRingsAreLengthsOfArcs) {
  const std::vector<Detector> whole = detectors_of(ring(90, 40e-3));
  const DetectorSurface surface = surface_of(whole);
  EXPECT_EQ(surface.shape, SurfaceShape::sphere);
  EXPECT_TRUE(surface.flat);
  EXPECT_NEAR(std::abs(surface.axis.y), 1.0, 1e-9);
  EXPECT_NEAR(surface.radius.value, 40e-3, 1e-9);
  for (const double size : shares_for(whole).sizes) EXPECT_NEAR(size, 2.0 * pi * 40e-3 / 90.0, 1e-9);
  EXPECT_NEAR(shares_for(whole).whole, 2.0 * pi, 1e-12);

  // An arc is as much whole as its steps: its ends reach out half of one.
  const DetectorShares arc = shares_for(detectors_of(ring(90, 40e-3, 0.4)));
  EXPECT_NEAR(arc.angle, 0.8 * pi, 1e-9);
  EXPECT_NEAR(arc.whole, pi, 1e-12);
  EXPECT_NEAR(shares_for(detectors_of(ring(90, 40e-3, 0.75))).whole, 2.0 * pi, 1e-12);
}

TEST(DetectorSurfaces, OfPlanesAndLines) {
  Acquisition plane = passive(100, 20e6, 0.0);
  for (int row = 0; row < 7; ++row) {
    for (int column = 0; column < 9; ++column) {
      Element element;
      element.centre = {Metres(1e-3 * column), Metres(2.5e-3 * row), Metres(0.0)};
      plane.probe.elements.push_back(element);
    }
  }
  plane.events = {{PassiveEvent{}, {}, 0}};
  const std::vector<Detector> detectors = detectors_of(plane);
  EXPECT_EQ(surface_of(detectors).shape, SurfaceShape::plane);
  EXPECT_FALSE(surface_of(detectors).flat);
  EXPECT_NEAR(shares_for(detectors).whole, 2.0 * pi, 1e-12);
  for (const double size : shares_for(detectors).sizes) EXPECT_NEAR(size, 2.5e-6, 1e-12);

  Acquisition line = passive(100, 20e6, 0.0);
  line.probe = make_linear_probe(16, Metres(0.3e-3), Metres(0.25e-3), Hertz(5e6), Hertz(3e6));
  line.events = {{PassiveEvent{}, {}, 0}};
  const std::vector<Detector> along = detectors_of(line);
  EXPECT_EQ(surface_of(along).shape, SurfaceShape::plane);
  EXPECT_TRUE(surface_of(along).flat);
  EXPECT_NEAR(shares_for(along).whole, pi, 1e-12);
  for (const double size : shares_for(along).sizes) EXPECT_NEAR(size, 0.3e-3, 1e-12);
}

TEST(DetectorSurfaces, ShareWhatStandsAtOnePlace) {
  Acquisition acquisition = ring(60, 40e-3);
  acquisition.events.push_back(acquisition.events.front());
  const DetectorShares shares = shares_for(detectors_of(acquisition));
  ASSERT_EQ(shares.sizes.size(), 120u);
  for (const double size : shares.sizes) EXPECT_NEAR(size, pi * 40e-3 / 60.0, 1e-9);
}

}  // namespace
}  // namespace echoform::test
