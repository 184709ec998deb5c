// Grating lobes from couplant into a part against Snell's law by hand, and departures of straight rays.
#include "methods/tfm/grating_lobes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "methods/tfm/build_plan.hpp"
#include "methods/tfm/report.hpp"
#include "rays/curve.hpp"
#include "tests/methods/small_arrays.hpp"

namespace echoform {
namespace {

using test::living;

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

std::vector<EnteringLobe> lobes_of(const Probe& probe, const Scene& scene, const Material& material, double steered,
                                   Hertz frequency) {
  return entering_lobes(probe, living(probe), scene, material, steered, frequency);
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
  const auto sine = departure_sine(WaterLeg(probe), probe, living(probe), far, MetresPerSecond(1480.0));
  ASSERT_TRUE(sine);
  // The array's centre lies 15 mm above that of the angle: 15 mm / 10 m * sin(25 degrees) = 6e-4 rad.
  EXPECT_NEAR(*sine, std::sin(15.0 * radian), 1e-3);
  Probe dead = probe;
  for (std::size_t k = 1; k < 16; ++k) dead.elements[k].dead = true;
  EXPECT_FALSE(departure_sine(WaterLeg(dead), dead, living(dead), far, MetresPerSecond(1480.0)));
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
  EXPECT_NEAR(departure_sine(WaterLeg(field), field, living(field), far, MetresPerSecond(1480.0)).value(),
              departure_sine(WaterLeg(line), line, living(line), far, MetresPerSecond(1480.0)).value(), 1e-9);
  EXPECT_EQ(lobes_of(field, tank(MetresPerSecond(1480.0)), light_metal, 0.1, Hertz(5e6)).size(),
            lobes_of(line, tank(MetresPerSecond(1480.0)), light_metal, 0.1, Hertz(5e6)).size());
  // From the other end the same beam is steered the other way.
  Probe backwards = line;
  std::reverse(backwards.elements.begin(), backwards.elements.end());
  EXPECT_NEAR(departure_sine(WaterLeg(backwards), backwards, living(backwards), far, MetresPerSecond(1480.0)).value(),
              -departure_sine(WaterLeg(line), line, living(line), far, MetresPerSecond(1480.0)).value(), 1e-12);
}

TEST(CouplantPath, RunsAlongTheNormal) {
  EXPECT_NEAR(couplant_path(turned_probe(0.5e-3, 0.0), *tank(MetresPerSecond(1480.0)).surface).value().value, 15e-3, 1e-15);
  EXPECT_NEAR(couplant_path(turned_probe(0.5e-3, -60.0), *tank(MetresPerSecond(1480.0)).surface).value().value, 30e-3, 1e-12);
}

TEST(EnteringLobes, StayInWaterBeyondTheCriticalAngle) {
  // 0.296 / 0.5 = 0.592 is above 1480 / 3130 = 0.473, beyond which not even T goes in.
  EXPECT_TRUE(lobes_of(turned_probe(0.5e-3, 0.0), tank(MetresPerSecond(1480.0)), light_metal, 0.0, Hertz(5e6)).empty());
  // Steered to sin = 0.3 one of the lobes stands at -0.292, another would at -0.884.
  const auto steered = lobes_of(turned_probe(0.5e-3, 0.0), tank(MetresPerSecond(1480.0)), light_metal, 0.3, Hertz(5e6));
  ASSERT_EQ(steered.size(), 1U);
  EXPECT_EQ(steered[0].mode, 'T');
  EXPECT_NEAR(steered[0].couplant_degrees, std::asin(-0.292) / radian, 1e-9);
  EXPECT_NEAR(steered[0].part_degrees, std::asin(-0.292 * 3130.0 / 1480.0) / radian, 1e-9);
}

TEST(EnteringLobes, OfATurnedProbeBendAboutTheSurfacesNormal) {
  // 0.296 / 0.8 = 0.37: 21.72 degrees to either side of a beam at 30 degrees from z. 8.28 goes in as L and T; 51.72 does not.
  // Twice that, 0.74, is 47.73 degrees: -17.73 goes in as T alone, its sine of 0.3046 being above 1480 / 6320 = 0.234.
  const auto lobes = lobes_of(turned_probe(0.8e-3, -30.0), tank(MetresPerSecond(1480.0)), light_metal, 0.0, Hertz(5e6));
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

TEST(EnteringLobes, AreThoseOfTheElementsThatAreTaken) {
  // Every second element of a pitch of 0.4 mm is an array of 0.8 mm, though its middle lies 0.2 mm off: on a plane that is the
  // same.
  const Probe dense = turned_probe(0.4e-3, 0.0);
  std::vector<bool> second(16);
  for (std::size_t k = 0; k < 16; k += 2) second[k] = true;
  const auto found = entering_lobes(dense, second, tank(MetresPerSecond(1480.0)), light_metal, 0.1, Hertz(5e6));
  const auto wanted = lobes_of(turned_probe(0.8e-3, 0.0), tank(MetresPerSecond(1480.0)), light_metal, 0.1, Hertz(5e6));
  ASSERT_EQ(found.size(), wanted.size());
  ASSERT_FALSE(found.empty());
  for (std::size_t k = 0; k < found.size(); ++k) {
    EXPECT_EQ(found[k].mode, wanted[k].mode);
    EXPECT_NEAR(found[k].part_degrees, wanted[k].part_degrees, 1e-9);
  }
  EXPECT_LT(lobes_of(dense, tank(MetresPerSecond(1480.0)), light_metal, 0.1, Hertz(5e6)).size(), found.size());
  // Elements at irregular distances have none to tell.
  second[1] = true;
  EXPECT_TRUE(entering_lobes(dense, second, tank(MetresPerSecond(1480.0)), light_metal, 0.1, Hertz(5e6)).empty());
  // Rays of the last four leave at the angle that those have.
  const Point near{Metres(3e-3), Metres(), Metres(0.0)};
  std::vector<bool> last(16);
  double mean = 0.0;
  for (std::size_t k = 12; k < 16; ++k) {
    last[k] = true;
    mean += 0.25 * std::sin(std::atan2((near.x - dense.elements[k].centre.x).value, 15e-3));
  }
  // The mean slope over 1.2 mm against the mean of sines at four elements: less than 1e-3 for a range of 15 mm.
  EXPECT_NEAR(departure_sine(WaterLeg(dense), dense, last, near, MetresPerSecond(1480.0)).value(), mean, 1e-3);
}

TEST(GratingLobes, OfAMatrixInContactAreToldAlongAndAcross) {
  // Of 5 MHz in 6320 m/s: 1.264 mm. 0.6 mm along x has no lobes, 1.58 mm along y has them at every angle.
  Acquisition acquisition = test::frames_of(make_matrix_probe({.columns = 4,
                                                               .rows = 4,
                                                               .pitch = Metres(0.6e-3),
                                                               .row_pitch = Metres(1.58e-3),
                                                               .width = Metres(0.5e-3),
                                                               .length = Metres(1e-3)},
                                                              Hertz(5e6), Hertz(3e6)),
                                            1000, Hertz(50e6));
  Configuration configuration;
  configuration.grid.pixels = {9, 9, 9};
  const SetupReport volume = report_plan(*build_plan(configuration, acquisition, light_metal));
  const auto pitch = std::ranges::find(volume.rows, "pitch", &std::pair<std::string, std::string>::first);
  ASSERT_NE(pitch, volume.rows.end());
  EXPECT_NE(pitch->second.find("0.6 mm: L 0.475 wavelengths (no grating lobes)"), std::string::npos) << pitch->second;
  EXPECT_NE(pitch->second.find("across, 1.58 mm: L 1.25 wavelengths (a grating lobe at every angle)"), std::string::npos)
      << pitch->second;
  EXPECT_NEAR(volume.values["pitch_across_per_wavelength"]["L"].get<double>(), 1.25, 1e-9);
  EXPECT_EQ(std::ranges::count_if(volume.warnings, [](const std::string& line) { return line.find("the pitch across of") == 0; }),
            1);
  configuration.grid.pixels = {9, 9};
  EXPECT_FALSE(report_plan(*build_plan(configuration, acquisition, light_metal)).values.contains("pitch_across_per_wavelength"));
}

}  // namespace
}  // namespace echoform
