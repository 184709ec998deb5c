// Growth is told apart from noise, bursts and single steps. The series are drawn from a fixed generator.
#include "apps/soak/slope.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

namespace echoform::soak {
namespace {

constexpr double grain = 256.0;  // KiB

struct Series {
  std::vector<double> hours, values;
};

// Readings every 10 s of `value`, which gets the hours and a number from 0 to 1.
Series series(std::size_t readings, const std::function<double(double, double)>& value, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  Series made;
  for (std::size_t i = 0; i < readings; ++i) {
    const double hours = static_cast<double>(i) / 360.0;
    made.hours.push_back(hours);
    made.values.push_back(value(hours, static_cast<double>(random() >> 11) * 0x1p-53));
  }
  return made;
}

Growth growth_of(const Series& of) {
  return judge_growth(of.hours, of.values, grain);
}

TEST(TheilSen, FindsTheLineExactlyAndIgnoresOutliers) {
  const Series line = series(31, [](double hours, double) { return 100.0 - 7.0 * hours; });
  EXPECT_NEAR(theil_sen(line.hours, line.values).median, -7.0, 1e-9);
  Series hit = line;
  for (const std::size_t place : {3, 11, 12, 20, 29}) hit.values[place] += 1e6;
  const Slope slope = theil_sen(hit.hours, hit.values);
  EXPECT_NEAR(slope.median, -7.0, 1e-9);
  EXPECT_LE(slope.low, -7.0 + 1e-9);
  EXPECT_GE(slope.high, -7.0 - 1e-9);
}

TEST(TheilSen, IsTheMedianOfAllPairs) {
  // Slopes of the pairs: 1, 2, 3, 3, 4, 5 (worked by hand).
  const std::vector<double> places{0, 1, 2, 3}, values{0, 1, 4, 9};
  EXPECT_DOUBLE_EQ(theil_sen(places, values).median, 3.0);
  EXPECT_DOUBLE_EQ(theil_sen(std::vector<double>{1.0}, std::vector<double>{5.0}).median, 0.0);
}

// Upside down, the band of the same readings is the same band upside down.
TEST(TheilSen, TheBandLeavesOutAsManySlopesBelowAsAbove) {
  const std::vector<double> places{0, 1, 2, 3, 4, 5, 6, 7};
  std::vector<double> values, mirrored;
  for (const double place : places) values.push_back(place * place);
  for (const double value : values) mirrored.push_back(-value);
  const Slope slope = theil_sen(places, values);
  const Slope other = theil_sen(places, mirrored);
  EXPECT_DOUBLE_EQ(slope.low, -other.high);
  EXPECT_DOUBLE_EQ(slope.high, -other.low);
}

// The band holds the true slope in about 95 of 100 series of independent noise: between 88 and 100 in these.
TEST(TheilSen, BandHoldsTheTrueSlope) {
  int held = 0;
  for (unsigned seed = 1; seed <= 100; ++seed) {
    const Series noisy = series(
        48, [](double hours, double noise) { return 300.0 * hours + 50.0 * noise; }, seed);
    const Slope slope = theil_sen(noisy.hours, noisy.values);
    held += slope.low <= 300.0 && slope.high >= 300.0 ? 1 : 0;
  }
  EXPECT_GE(held, 88);
}

TEST(Growth, ALeakGrows) {
  // 3 MiB an hour under noise of 200 KiB, eight minutes long.
  const Growth growth =
      growth_of(series(48, [](double hours, double noise) { return 60000.0 + 3072.0 * hours + 200.0 * noise; }));
  EXPECT_TRUE(growth.grows);
  EXPECT_NEAR(growth.whole.median, 3072.0, 500.0);
}

TEST(Growth, ASlowLeakShowsInALongRun) {
  const auto leak = [](double hours, double noise) { return 60000.0 + 100.0 * hours + 200.0 * noise; };
  EXPECT_FALSE(growth_of(series(48, leak)).grows);
  EXPECT_TRUE(growth_of(series(360 * 8, leak)).grows);
}

TEST(Growth, NoiseDoesNotGrow) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    EXPECT_FALSE(growth_of(series(
                               48, [](double, double noise) { return 60000.0 + 2000.0 * noise; }, seed))
                     .grows)
        << seed;
  }
}

TEST(Growth, ASingleStepIsNoLeakAndStepsInBothHalvesAre) {
  for (double at : {0.01, 0.03, 0.066, 0.1, 0.12}) {
    EXPECT_FALSE(
        growth_of(series(48, [&](double hours, double noise) { return (hours > at ? 4000.0 : 0.0) + 20.0 * noise; })).grows)
        << at;
  }
  EXPECT_TRUE(growth_of(series(48, [](double hours, double noise) {
                return 1000.0 * std::floor(hours * 60.0 / 2.0) + 20.0 * noise;  // a step every two minutes
              })).grows);
}

TEST(Growth, ALeakThatBeginsLateGrows) {
  // 16 MiB, all of it in the second half of the run; or in the last four tenths.
  for (const double begin : {0.5, 0.6}) {
    const Growth growth = growth_of(series(48, [&](double hours, double noise) {
      const double part = hours * 360.0 / 47.0;
      return 60000.0 + std::max(0.0, part - begin) * 32768.0 + 50.0 * noise;
    }));
    EXPECT_TRUE(growth.grows) << begin;
  }
}

TEST(Growth, ADescriptorLostNowAndThenGrows) {
  const Series lost = series(48, [](double hours, double) { return 30.0 + std::floor(hours * 60.0); });  // one a minute
  EXPECT_TRUE(judge_growth(lost.hours, lost.values, 0.5).grows);
  const Series constant = series(48, [](double, double) { return 30.0; });
  EXPECT_FALSE(judge_growth(constant.hours, constant.values, 0.5).grows);
}

TEST(Growth, TooFewReadingsAreNotJudged) {
  EXPECT_FALSE(growth_of(series(fewest_readings - 1, [](double hours, double) { return 1e6 * hours; })).grows);
  EXPECT_TRUE(growth_of(series(fewest_readings, [](double hours, double) { return 1e6 * hours; })).grows);
}

}  // namespace
}  // namespace echoform::soak
