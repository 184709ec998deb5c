// How sharp images are.
#include "apps/sharpness_door.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace echoform {
namespace {

TEST(Sharpness, IsTheVarianceOverTheSquareOfTheMean) {
  // One of n values that is not 0: n - 1, the most that n values can have.
  std::vector<float> point(100);
  point[37] = 5.0F;
  EXPECT_NEAR(sharpness_of(point), 99.0, 1e-9);
  EXPECT_NEAR(sharpness_of(std::vector<float>(50, -2.0F)), 0.0, 1e-12);
  EXPECT_NEAR(sharpness_of(std::vector<float>{1.0F, -3.0F}), 0.25, 1e-12);
}

TEST(Sharpness, DoesNotDependOnGainOrSign) {
  const std::vector<float> image{0.1F, -0.7F, 2.5F, 0.0F, 1.0F};
  std::vector<float> other;
  for (const float value : image) other.push_back(-1000.0F * value);
  EXPECT_NEAR(sharpness_of(image), sharpness_of(other), 1e-6);
}

TEST(Sharpness, OfNothingIsZero) {
  EXPECT_EQ(sharpness_of({}), 0.0);
  EXPECT_EQ(sharpness_of(std::vector<float>(8)), 0.0);
  const std::vector<float> odd{std::numeric_limits<float>::quiet_NaN(), 0.0F, std::numeric_limits<float>::infinity()};
  EXPECT_EQ(sharpness_of(odd), 0.0);
}

}  // namespace
}  // namespace echoform
