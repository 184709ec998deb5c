// Motion closes, seeds move what they should, the default phantom lies inside the demo's gate.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "simulators/fmc_simulator.hpp"
#include "simulators/phantom.hpp"

namespace echoform {
namespace {

Motion moving(MotionKind kind, unsigned turns = 1, double offset = 0.0) {
  return {kind, {Metres(2e-3), Metres(0.0), Metres(1e-3)}, turns, offset};
}

TEST(Motion, FollowsItsPath) {
  EXPECT_EQ(moving(MotionKind::still).displacement(0.3), Point{});
  const auto linear = moving(MotionKind::linear);
  EXPECT_NEAR(linear.displacement(0.0).x.value, 0.0, 1e-18);
  EXPECT_NEAR(linear.displacement(0.125).x.value, 1e-3, 1e-18);
  EXPECT_NEAR(linear.displacement(0.25).x.value, 2e-3, 1e-18);
  EXPECT_NEAR(linear.displacement(0.625).z.value, -0.5e-3, 1e-18);
  EXPECT_NEAR(linear.displacement(0.75).x.value, -2e-3, 1e-18);
  const auto sine = moving(MotionKind::oscillating);
  EXPECT_NEAR(sine.displacement(1.0 / 12.0).x.value, 1e-3, 1e-17);
  EXPECT_NEAR(sine.displacement(0.75).z.value, -1e-3, 1e-17);
  const auto circle = moving(MotionKind::circular, 3, 0.25);
  for (double phase = 0.0; phase < 1.0; phase += 0.07) {
    const Point by = circle.displacement(phase);
    const double angle = 2.0 * std::numbers::pi * (3.0 * phase + 0.25);
    EXPECT_NEAR(by.x.value, 2e-3 * std::cos(angle), 1e-16);
    EXPECT_NEAR(by.z.value, 1e-3 * std::sin(angle), 1e-16);
    EXPECT_EQ(by.y.value, 0.0);
  }
}

TEST(Motion, ClosesAfterACycleWithoutAJump) {
  for (const MotionKind kind : {MotionKind::linear, MotionKind::oscillating, MotionKind::circular}) {
    for (const unsigned turns : {1U, 2U, 5U}) {
      const Motion motion = moving(kind, turns, 0.4);
      double largest_step = 0.0;
      for (int k = 0; k < 1000; ++k) {
        const Point a = motion.displacement(k / 1000.0);
        const Point b = motion.displacement((k + 1) / 1000.0);
        largest_step = std::max(largest_step, std::hypot((a.x - b.x).value, (a.z - b.z).value));
        EXPECT_NEAR(motion.displacement(k / 1000.0 + 1.0).x.value, a.x.value, 1e-15);
      }
      // Fastest: 2 pi (sine) or 4 (triangle) extents a period, both axes together at most sqrt(5) mm of extent.
      EXPECT_LT(largest_step, turns * 2.0 * std::numbers::pi * std::sqrt(5.0) * 1e-3 / 1000.0 * 1.0001);
    }
  }
}

TEST(DefaultPhantom, SeedMovesTheSeededScattererAndNothingElse) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto a_phantom = default_phantom(seed);
    const auto b_phantom = default_phantom(seed + 1);
    const auto a = true_positions(a_phantom, 0.0);
    const auto b = true_positions(b_phantom, 0.0);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t k = 0; k < a.size(); ++k) {
      if (a[k].name == "seeded") {
        EXPECT_GT(std::hypot((a[k].place.x - b[k].place.x).value, (a[k].place.z - b[k].place.z).value), 1e-3) << seed;
        EXPECT_LE(std::abs(a[k].place.x.value), 4.5e-3 + 1e-15);
        EXPECT_GE(a[k].place.z.value, 18.5e-3);
        EXPECT_LE(a[k].place.z.value, 22.5e-3);
      } else {
        EXPECT_EQ(a[k].place, b[k].place);
      }
    }
  }
  EXPECT_EQ(default_phantom(7).points[2].centre, default_phantom(7).points[2].centre);
}

TEST(DefaultPhantom, IsHeardByEveryPairWithinTheGate) {
  const SimulatorConfiguration configuration = demo_simulator(3);
  const Acquisition acquisition = acquisition_of(configuration);
  // Three standard deviations of the pulse, by then 1 % of its peak.
  const double pulse = 3.0 * std::sqrt(2.0 * std::log(2.0)) / (std::numbers::pi * 0.6 * 5e6);
  const double end = static_cast<double>(acquisition.samples - 1) / acquisition.sample_rate.value;
  std::vector<Echo> echoes;
  for (int k = 0; k < 32; ++k) {
    const EchoModel model(acquisition.probe, {}, configuration.phantom, k / 32.0);
    for (std::size_t i = 0; i < acquisition.elements(); ++i) {
      for (std::size_t j = 0; j < acquisition.elements(); ++j) {
        model.echoes(i, j, echoes);
        ASSERT_EQ(echoes.size(), configuration.phantom.reflectors());
        for (const Echo& echo : echoes) {
          EXPECT_GT(echo.time - pulse, 0.0);
          EXPECT_LT(echo.time + pulse, end);
        }
      }
    }
  }
}

TEST(DefaultPhantom, ReflectorsStayApartAndInView) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto phantom = default_phantom(seed);
    for (int k = 0; k < 32; ++k) {
      const auto all = true_positions(phantom, k / 32.0);
      for (std::size_t a = 0; a < all.size(); ++a) {
        EXPECT_LE(std::abs(all[a].place.x.value), 16e-3);
        EXPECT_GE(all[a].place.z.value, 8e-3);
        EXPECT_LE(all[a].place.z.value, 36e-3);
        for (std::size_t b = a + 1; b < all.size(); ++b) {
          EXPECT_GT(std::hypot((all[a].place.x - all[b].place.x).value, (all[a].place.z - all[b].place.z).value), 3e-3)
              << all[a].name << ", " << all[b].name << ", seed " << seed;
        }
      }
    }
  }
}

TEST(TruePositions, HoleIsShownAtTheSurfaceThatFacesTheOrigin) {
  Phantom phantom;
  phantom.holes = {{"h", {Metres(3e-3), Metres(0.0), Metres(4e-3)}, Metres(1e-3), 1.0, {}}};
  const auto all = true_positions(phantom, 0.0);
  EXPECT_NEAR(all[0].place.x.value, 2.4e-3, 1e-17);  // 3-4-5: a fifth of the way back
  EXPECT_NEAR(all[0].place.z.value, 3.2e-3, 1e-17);
  EXPECT_EQ(all[0].centre, phantom.holes[0].centre);
}

}  // namespace
}  // namespace echoform
