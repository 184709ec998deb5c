// Grating lobes from couplant into a part against Snell's law by hand, and departures of straight rays.
#include "methods/tfm/grating_lobes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "rays/curve.hpp"

namespace echoform {
namespace {

constexpr double radian = std::numbers::pi / 180.0;
constexpr Material light_metal{MetresPerSecond(6320.0), MetresPerSecond(3130.0)};

Scene tank(MetresPerSecond couplant) {
  return {couplant, std::make_shared<Surface>("front", std::vector{line_segment({-0.5, 0.0}, {0.5, 0.0})}), nullptr};
}

/// 15 mm above the plane z = 0, turned from x towards z.
Probe turned_probe(double pitch, double degrees) {
  Probe probe = make_linear_probe(16, Metres(pitch), Metres(0.0), Hertz(5e6), Hertz(3e6));
  for (Element& element : probe.elements) {
    const double along = element.centre.x.value;
    element.centre.x = Metres(along * std::cos(degrees * radian));
    element.centre.z = Metres(along * std::sin(degrees * radian) - 15e-3);
    element.normal = {-std::sin(degrees * radian), 0.0, std::cos(degrees * radian)};
  }
  return probe;
}

class WaterLeg final : public Leg {
 public:
  explicit WaterLeg(const Probe& probe) : probe_(probe) {}
  [[nodiscard]] std::size_t sources() const noexcept override { return probe_.elements.size(); }
  void travel_times(std::size_t source, std::span<const Point> pixels, std::span<double> seconds) const override {
    const Point& from = probe_.elements[source].centre;
    seconds[0] = std::hypot((pixels[0].x - from.x).value, (pixels[0].z - from.z).value) / 1480.0;
  }

 private:
  const Probe& probe_;
};

TEST(Departure, IsTheAngleFromTheArraysNormal) {
  const Probe probe = turned_probe(0.5e-3, -10.0);
  // Far off at 25 degrees from z towards x, which is 15 from the normal, towards the last element.
  const Point far{Metres(10.0 * std::sin(25.0 * radian)), Metres(), Metres(10.0 * std::cos(25.0 * radian))};
  const auto sine = departure_sine(WaterLeg(probe), probe, far, MetresPerSecond(1480.0));
  ASSERT_TRUE(sine);
  // The array's centre lies 15 mm above that of the angle: 15 mm / 10 m * sin(25 degrees) = 6e-4 rad.
  EXPECT_NEAR(*sine, std::sin(15.0 * radian), 1e-3);
  Probe dead = probe;
  for (std::size_t k = 1; k < 16; ++k) dead.elements[k].dead = true;
  EXPECT_FALSE(departure_sine(WaterLeg(dead), dead, far, MetresPerSecond(1480.0)));
}

TEST(Departure, OfAFieldOfElementsIsThatOfItsRows) {
  // Three lines beside each other, one after the other in the file: from the end of one to the begin of the next it jumps back.
  Probe field;
  for (const double y : {-1e-3, 0.0, 1e-3}) {
    for (Element element : turned_probe(0.5e-3, -10.0).elements) {
      element.centre.y = Metres(y);
      field.elements.push_back(element);
    }
  }
  const Point far{Metres(10.0 * std::sin(25.0 * radian)), Metres(), Metres(10.0 * std::cos(25.0 * radian))};
  const Probe line = turned_probe(0.5e-3, -10.0);
  EXPECT_NEAR(departure_sine(WaterLeg(field), field, far, MetresPerSecond(1480.0)).value(),
              departure_sine(WaterLeg(line), line, far, MetresPerSecond(1480.0)).value(), 1e-9);
  EXPECT_EQ(entering_lobes(field, tank(MetresPerSecond(1480.0)), light_metal, 0.1, Hertz(5e6)).size(),
            entering_lobes(line, tank(MetresPerSecond(1480.0)), light_metal, 0.1, Hertz(5e6)).size());
  // From the other end the same beam is steered the other way.
  Probe backwards = line;
  std::reverse(backwards.elements.begin(), backwards.elements.end());
  EXPECT_NEAR(departure_sine(WaterLeg(backwards), backwards, far, MetresPerSecond(1480.0)).value(),
              -departure_sine(WaterLeg(line), line, far, MetresPerSecond(1480.0)).value(), 1e-12);
}

TEST(CouplantPath, RunsAlongTheNormal) {
  EXPECT_NEAR(couplant_path(turned_probe(0.5e-3, 0.0), *tank(MetresPerSecond(1480.0)).surface).value().value, 15e-3, 1e-15);
  EXPECT_NEAR(couplant_path(turned_probe(0.5e-3, -60.0), *tank(MetresPerSecond(1480.0)).surface).value().value, 30e-3, 1e-12);
}

TEST(EnteringLobes, StayInWaterBeyondTheCriticalAngle) {
  // 0.296 / 0.5 = 0.592 is above 1480 / 3130 = 0.473, beyond which not even T goes in.
  EXPECT_TRUE(entering_lobes(turned_probe(0.5e-3, 0.0), tank(MetresPerSecond(1480.0)), light_metal, 0.0, Hertz(5e6)).empty());
  // Steered to sin = 0.3 one of the lobes stands at -0.292, another would at -0.884.
  const auto steered = entering_lobes(turned_probe(0.5e-3, 0.0), tank(MetresPerSecond(1480.0)), light_metal, 0.3, Hertz(5e6));
  ASSERT_EQ(steered.size(), 1U);
  EXPECT_EQ(steered[0].mode, 'T');
  EXPECT_NEAR(steered[0].couplant_degrees, std::asin(-0.292) / radian, 1e-9);
  EXPECT_NEAR(steered[0].part_degrees, std::asin(-0.292 * 3130.0 / 1480.0) / radian, 1e-9);
}

TEST(EnteringLobes, OfATurnedProbeBendAboutTheSurfacesNormal) {
  // 0.296 / 0.8 = 0.37: 21.72 degrees to either side of a beam at 30 degrees from z. 8.28 goes in as L and T; 51.72 does not.
  // Twice that, 0.74, is 47.73 degrees: -17.73 goes in as T alone, its sine of 0.3046 being above 1480 / 6320 = 0.234.
  const auto lobes = entering_lobes(turned_probe(0.8e-3, -30.0), tank(MetresPerSecond(1480.0)), light_metal, 0.0, Hertz(5e6));
  const double incident = std::sin(30.0 * radian - std::asin(0.37)) / 1480.0;
  ASSERT_EQ(lobes.size(), 3U);
  EXPECT_EQ(lobes[0].mode, 'L');
  EXPECT_NEAR(lobes[0].part_degrees, std::asin(incident * 6320.0) / radian, 1e-9);
  EXPECT_EQ(lobes[1].mode, 'T');
  EXPECT_NEAR(lobes[1].part_degrees, std::asin(incident * 3130.0) / radian, 1e-9);
  EXPECT_EQ(lobes[2].mode, 'T');
  EXPECT_NEAR(lobes[2].couplant_degrees, -std::asin(0.74) / radian, 1e-9);
  EXPECT_NEAR(lobes[2].part_degrees, std::asin(std::sin(30.0 * radian - std::asin(0.74)) * 3130.0 / 1480.0) / radian, 1e-9);
}

}  // namespace
}  // namespace echoform
