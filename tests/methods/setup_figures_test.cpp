// Figures of a set-up against numbers worked out by hand.
#include "methods/tfm/setup_figures.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace echoform {
namespace {

constexpr MetresPerSecond longitudinal(6320.0);
constexpr MetresPerSecond shear(3130.0);

TEST(SetupFigures, WavelengthsOfAluminiumAndWaterAtFiveMegahertz) {
  EXPECT_NEAR(wavelength_of(longitudinal, Hertz(5e6)).value, 1.264e-3, 1e-12);
  EXPECT_NEAR(wavelength_of(shear, Hertz(5e6)).value, 0.626e-3, 1e-12);
  EXPECT_NEAR(wavelength_of(MetresPerSecond(1480.0), Hertz(5e6)).value, 0.296e-3, 1e-12);
}

TEST(SetupFigures, NearFieldOfTwentyMillimetres) {
  // 20 mm and 1.25 mm: 400 / 5 = 80 mm.
  EXPECT_NEAR(near_field_length(Metres(0.020), Metres(1.25e-3)).value, 0.080, 1e-12);
}

TEST(SetupFigures, WaterTakesItsShareOfTheNearField) {
  // 20 mm of water at a quarter of the velocity count as 5 mm.
  EXPECT_NEAR(near_field_left(Metres(0.080), Metres(0.020), MetresPerSecond(1500.0), MetresPerSecond(6000.0)).value, 0.075,
              1e-15);
  EXPECT_EQ(near_field_left(Metres(0.004), Metres(0.020), MetresPerSecond(1500.0), MetresPerSecond(6000.0)).value, 0.0);
}

TEST(SetupFigures, GratingLobes) {
  EXPECT_FALSE(grating_lobe(Metres(0.5e-3), Metres(1.0e-3)));
  // lambda / pitch = 1.5: a lobe at 90 degrees for a beam steered to asin(0.5).
  const auto steered = grating_lobe(Metres(1.0e-3), Metres(1.5e-3));
  ASSERT_TRUE(steered);
  EXPECT_FALSE(steered->straight_ahead);
  EXPECT_NEAR(steered->degrees, 30.0, 1e-9);
  // 0.65 mm in aluminium at 5 MHz: 0.626 / 0.65 = 0.96308, whose angle is 74.38 degrees; L at 1.264 / 0.65 - 1 = 0.94462: 70.84.
  const auto ahead = grating_lobe(Metres(0.65e-3), wavelength_of(shear, Hertz(5e6)));
  ASSERT_TRUE(ahead);
  EXPECT_TRUE(ahead->straight_ahead);
  EXPECT_NEAR(ahead->degrees, 74.38, 0.01);
  const auto long_wave = grating_lobe(Metres(0.65e-3), wavelength_of(longitudinal, Hertz(5e6)));
  ASSERT_TRUE(long_wave);
  EXPECT_FALSE(long_wave->straight_ahead);
  EXPECT_NEAR(long_wave->degrees, 70.84, 0.01);
  EXPECT_FALSE(grating_lobe(Metres(0.0), Metres(1e-3)));
}

TEST(SetupFigures, LinkRates) {
  // 128 x 128 A-scans of 1024 samples of 2 bytes are 33,554,432 bytes: 10 Gbit/s carry 37.25 of them.
  EXPECT_NEAR(frames_per_second_of_link(10e9, std::size_t{128} * 128 * 2048), 37.2529, 1e-4);
}

}  // namespace
}  // namespace echoform
