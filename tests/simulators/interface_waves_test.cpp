// Plane waves at interfaces: energy is kept, and what textbooks say of normal incidence and critical angles.
#include "simulators/interface_waves.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace echoform::simulated {
namespace {

const FluidSolid into_aluminium{1480.0, 1000.0, 6320.0, 3130.0, 2700.0};

TEST(FluidSolid, NormalIncidenceFollowsFromTheImpedances) {
  const double water = 1480.0 * 1000.0;
  const double aluminium = 6320.0 * 2700.0;
  EXPECT_NEAR(into_aluminium.reflection(0.0), (aluminium - water) / (aluminium + water), 1e-12);
  EXPECT_NEAR(into_aluminium.transmission('L', 0.0), 2.0 * std::sqrt(aluminium * water) / (aluminium + water), 1e-12);
  EXPECT_EQ(into_aluminium.transmission('T', 0.0), 0.0) << "no shear without an angle";
}

TEST(FluidSolid, KeepsEnergyAtEveryAngle) {
  for (double degrees = 0.0; degrees < 80.0; degrees += 0.7) {
    const double slowness = std::sin(degrees * M_PI / 180.0) / 1480.0;
    const double kept = std::pow(into_aluminium.reflection(slowness), 2) +
                        std::pow(into_aluminium.transmission('L', slowness), 2) +
                        std::pow(into_aluminium.transmission('T', slowness), 2);
    EXPECT_NEAR(kept, 1.0, 1e-9) << degrees;
  }
}

TEST(FluidSolid, NothingGoesThroughBeyondTheCriticalAngles) {
  // asin(1480 / 6320) = 13.54 and asin(1480 / 3130) = 28.22 degrees.
  const auto slowness = [](double degrees) { return std::sin(degrees * M_PI / 180.0) / 1480.0; };
  EXPECT_GT(into_aluminium.transmission('L', slowness(13.4)), 0.1);
  EXPECT_EQ(into_aluminium.transmission('L', slowness(13.6)), 0.0);
  EXPECT_GT(into_aluminium.transmission('T', slowness(20.0)), 0.5);
  EXPECT_EQ(into_aluminium.transmission('T', slowness(28.3)), 0.0);
  EXPECT_NEAR(into_aluminium.reflection(slowness(40.0)), 1.0, 1e-12);
}

TEST(FluidSolid, FromBelowKeepsEnergyAndIsReciprocal) {
  for (double degrees = 0.0; degrees < 89.0; degrees += 0.7) {
    // Of T in the solid; L is evanescent beyond asin(3130 / 6320) = 29.7 degrees.
    const double slowness = std::sin(degrees * M_PI / 180.0) / 3130.0;
    for (const char mode : {'L', 'T'}) {
      if (slowness * (mode == 'L' ? 6320.0 : 3130.0) >= 1.0) continue;
      const double kept = std::pow(into_aluminium.reflection_from_below(mode, 'L', slowness), 2) +
                          std::pow(into_aluminium.reflection_from_below(mode, 'T', slowness), 2) +
                          std::pow(into_aluminium.transmission(mode, slowness), 2);
      EXPECT_NEAR(kept, 1.0, 1e-9) << mode << ' ' << degrees;
    }
    EXPECT_EQ(into_aluminium.reflection_from_below('L', 'T', slowness), into_aluminium.reflection_from_below('T', 'L', slowness));
  }
  const double water = 1480.0 * 1000.0;
  const double aluminium = 6320.0 * 2700.0;
  EXPECT_NEAR(into_aluminium.reflection_from_below('L', 'L', 0.0), (aluminium - water) / (aluminium + water), 1e-12);
  EXPECT_EQ(into_aluminium.reflection_from_below('T', 'T', 0.0), 1.0) << "a fluid takes no shear at normal incidence";
  // A wedge that is faster than shear waves in the part (lead: 2160, 700 m/s) takes nothing beyond its own critical angle.
  const FluidSolid into_lead{2730.0, 1180.0, 2160.0, 700.0, 11340.0};
  EXPECT_NEAR(into_lead.reflection_from_below('T', 'T', std::sin(0.5) / 700.0), 1.0, 1e-12);
}

TEST(FluidSolid, FromBelowIsAFreeSurfaceWhereThereIsNoFluid) {
  const FluidSolid into_nothing{1480.0, 1e-9, 6320.0, 3130.0, 2700.0};
  const SolidFree wall{6320.0, 3130.0};
  for (double degrees = 0.0; degrees < 89.0; degrees += 0.7) {
    const double slowness = std::sin(degrees * M_PI / 180.0) / 3130.0;
    for (const char incident : {'L', 'T'}) {
      for (const char reflected : {'L', 'T'}) {
        EXPECT_NEAR(into_nothing.reflection_from_below(incident, reflected, slowness),
                    wall.reflection(incident, reflected, slowness), 1e-6)
            << incident << reflected << ' ' << degrees;
      }
    }
  }
}

TEST(SolidFree, KeepsEnergyAndIsReciprocal) {
  const SolidFree wall{6320.0, 3130.0};
  EXPECT_NEAR(wall.reflection('L', 'L', 0.0), 1.0, 1e-12);
  EXPECT_NEAR(wall.reflection('T', 'T', 0.0), 1.0, 1e-12);
  EXPECT_NEAR(wall.reflection('L', 'T', 0.0), 0.0, 1e-6);
  for (double degrees = 1.0; degrees < 89.0; degrees += 0.9) {
    const double slowness = std::sin(degrees * M_PI / 180.0) / 6320.0;
    const double same = wall.reflection('L', 'L', slowness);
    const double other = wall.reflection('L', 'T', slowness);
    EXPECT_NEAR(same * same + other * other, 1.0, 1e-12) << degrees;
    EXPECT_EQ(other, wall.reflection('T', 'L', slowness)) << degrees;
    // The same in the words of the textbook: the reflection coefficient of L by both angles.
    const double l = degrees * M_PI / 180.0;
    const double t = std::asin(std::sin(l) * 3130.0 / 6320.0);
    const double k = std::pow(6320.0 / 3130.0, 2) * std::pow(std::cos(2.0 * t), 2);
    const double s = std::sin(2.0 * l) * std::sin(2.0 * t);
    EXPECT_NEAR(same, std::abs((s - k) / (s + k)), 1e-9) << degrees;
  }
  const double beyond = std::sin(0.7) / 3130.0;  // 40 degrees; asin(3130 / 6320) is 29.7
  EXPECT_EQ(wall.reflection('T', 'T', beyond), 1.0);
  EXPECT_EQ(wall.reflection('T', 'L', beyond), 0.0);
}

}  // namespace
}  // namespace echoform::simulated
