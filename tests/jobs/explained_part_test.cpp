#include "jobs/explained_part.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace echoform::test {
namespace {

constexpr std::size_t samples = 90;
constexpr Hertz rate(30e6);

/// Two rows with a tone in bin 6 and one in bin 20 of 90, of these amplitudes.
std::vector<float> tones(double low, double high) {
  std::vector<float> rows;
  for (std::size_t k = 0; k < 2 * samples; ++k) {
    const double turn = 2.0 * std::numbers::pi * static_cast<double>(k % samples) / static_cast<double>(samples);
    rows.push_back(static_cast<float>(low * std::cos(6.0 * turn + 0.3) + high * std::sin(20.0 * turn)));
  }
  return rows;
}

TEST(ModelBand, HoldsTheSquaresOfItsBinsAlone) {
  ThreadTeam one(1, "test"), three(3, "test");
  // Bin 12 of 90 at 30 MHz is 4 MHz.
  ModelBand band(Hertz(4e6), rate, samples, one);
  EXPECT_TRUE(band.ends());
  // The squares of a tone over whole periods: amplitude^2 / 2 a sample. Single precision.
  EXPECT_NEAR(band.squares(tones(0.5, 3.0)), 2 * 90 * 0.5 * 0.25, 1e-4);
  EXPECT_NEAR(band.squares(tones(0.5, 3.0), tones(0.2, 1.0)), 2 * 90 * 0.5 * 0.09, 1e-4);
  EXPECT_EQ(ModelBand(Hertz(4e6), rate, samples, three).squares(tones(0.5, 3.0)), band.squares(tones(0.5, 3.0)));
}

TEST(ModelBand, OfHalfTheSampleRateIsAll) {
  ThreadTeam one(1, "test");
  ModelBand band(Hertz(15e6), rate, samples, one);
  EXPECT_FALSE(band.ends());
  EXPECT_NEAR(band.squares(tones(0.5, 3.0)), 2 * 90 * 0.5 * 9.25, 1e-3);
}

/// A detector 30 mm from a grid of 2 mm, whose sound arrives after 19.3 to 20.7 us at 1500 m/s; samples from 10 us on.
ModelGeometry one_detector() {
  ModelGeometry geometry;
  geometry.grid = {{Metres(-1e-3), Metres(1e-3), 21}, {Metres(-1e-3), Metres(1e-3), 21}, {Metres(0.0), Metres(0.0), 1}};
  Detector detector{};
  detector.centre = {Metres(0.0), Metres(0.0), Metres(30e-3)};
  detector.normal = {0.0, 0.0, -1.0};
  geometry.detectors.push_back(detector);
  geometry.samples = 600;
  geometry.sample_rate = Hertz(30e6);
  geometry.start_time = Seconds(10e-6);
  geometry.velocity = MetresPerSecond(1500.0);
  return geometry;
}

/// Three periods of 2 MHz about this time, in us, of that amplitude.
void add_burst(std::vector<float>& row, double time, double amplitude) {
  for (std::size_t n = 0; n < row.size(); ++n) {
    const double t = 10.0 + static_cast<double>(n) / 30.0 - time;
    row[n] += static_cast<float>(amplitude * std::exp(-t * t / 0.2) * std::cos(2.0 * std::numbers::pi * 2.0 * t));
  }
}

TEST(SoundFromOutside, IsTheShareOfWhatComesEarlierAndLater) {
  std::vector<float> row(600);
  add_burst(row, 20.0, 2.0);
  const auto found = [&](const ResponseReach& reach = {}) {
    return sound_from_outside(one_detector(), row, Hertz(4e6), Metres(0.0), reach);
  };
  EXPECT_LT(found().all(), 1e-3);
  add_burst(row, 12.0, 1.0);
  add_burst(row, 26.0, std::sqrt(3.0));
  // Squares go as 4, 1 and 3 of 8. Bursts have died away between each other.
  EXPECT_NEAR(found().before, 1.0 / 8.0, 1e-3);
  EXPECT_NEAR(found().after, 3.0 / 8.0, 1e-3);
  // Detectors that ring on for so long.
  EXPECT_NEAR(found({Seconds(0.0), Seconds(9e-6)}).after, 0.0, 1e-3);
}

}  // namespace
}  // namespace echoform::test
