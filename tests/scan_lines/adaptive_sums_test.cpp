// Arithmetic of adaptive weights that kernels on a GPU share with nobody else, by one thread.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <random>
#include <vector>

#include "stages/adaptive_weights/sums_math.hpp"

namespace echoform::test {
namespace {

std::vector<float> noise_of(std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(count));
  std::normal_distribution<float> noise;
  std::vector<float> values(count);
  for (float& value : values) value = noise(random);
  return values;
}

TEST(AdaptiveSums, LowFrequenciesAreThoseOfTheDft) {
  for (const std::size_t count : {1UL, 2UL, 3UL, 4UL, 5UL, 16UL, 17UL, 200UL}) {
    const std::vector<float> values = noise_of(count);
    for (const unsigned most : {0U, 1U, 2U, 8U}) {
      const double step = 2.0 * std::numbers::pi / static_cast<double>(count);
      adaptive::LowFrequencies low(most, static_cast<float>(std::cos(step)));
      for (const float value : values) low.add(value);
      double expected = 0.0;
      double all = 0.0;
      for (std::size_t m = 0; m < count; ++m) {
        std::complex<double> sum;
        for (std::size_t n = 0; n < count; ++n) {
          sum += static_cast<double>(values[n]) * std::polar(1.0, -step * static_cast<double>(m * n % count));
        }
        all += std::norm(sum);
        if (std::min(m, count - m) <= most) expected += std::norm(sum);
      }
      // Goertzel's recurrence in single precision, of 200 terms.
      EXPECT_NEAR(low.energy(static_cast<unsigned>(count)), expected, 1e-4 * all) << count << " " << most;
    }
  }
}

TEST(AdaptiveSums, OfAPointAreThoseOfItsChannels) {
  const std::vector<float> values = noise_of(40);
  const std::vector<float> weights = noise_of(41);
  adaptive::BesideSums<ChannelSums::squares> squares;
  adaptive::BesideSums<ChannelSums::signs> signs;
  adaptive::BesideSums<ChannelSums::roots> roots;
  adaptive::BesideSums<ChannelSums::low_frequencies> energies;
  double sum = 0.0, of_squares = 0.0, of_signs = 0.0, of_roots = 0.0, of_moduli = 0.0, energy = 0.0;
  for (std::size_t n = 0; n < values.size(); ++n) {
    const float w = std::abs(weights[n]);
    squares.add(values[n], w);
    signs.add(values[n], w);
    roots.add(values[n], w);
    energies.add(values[n], w);
    const double s = values[n];
    sum += w * s;
    of_squares += w * s * s;
    of_signs += s > 0.0 ? w : -w;
    of_roots += std::copysign(std::sqrt(w * std::abs(s)), s);
    of_moduli += w * std::abs(s);
    energy += s * s;
  }
  constexpr double rounding = 1e-5;
  EXPECT_NEAR(squares.sum, sum, rounding);
  EXPECT_NEAR(signs.sum, sum, rounding);
  EXPECT_NEAR(energies.sum, sum, rounding);
  EXPECT_NEAR(squares.second, of_squares, rounding);
  EXPECT_NEAR(signs.second, of_signs, rounding);
  EXPECT_NEAR(roots.sum, of_roots, rounding);
  EXPECT_NEAR(roots.second, of_moduli, rounding);
  EXPECT_NEAR(energies.second, energy, rounding);
  adaptive::BesideSums<ChannelSums::signs> none;
  none.add(0.0F, 1.0F);
  EXPECT_EQ(none.second, 0.0F);
}

TEST(AdaptiveSums, RatiosWithoutEnergyAreNothing) {
  EXPECT_EQ(adaptive::ratio_of({0.0F, 0.0F}), 0.0F);
  EXPECT_EQ(adaptive::ratio_of({2.0F, 1.0F}), 1.0F) << "rounding";
  EXPECT_EQ(adaptive::factor_of<ChannelSums::signs>(1.0F), 1.0F);
  EXPECT_FLOAT_EQ(adaptive::factor_of<ChannelSums::signs>(0.75F), 0.5F);
}

}  // namespace
}  // namespace echoform::test
