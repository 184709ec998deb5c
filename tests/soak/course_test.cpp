// The course of a soak: floors of blocks in their places.
#include "apps/soak/course.hpp"

#include <gtest/gtest.h>

namespace echoform::soak {
namespace {

TEST(Course, BlocksKeepTheirPlacesAfterAReadingThatCameLate) {
  Course course(600.0);
  course.begin(100.0);
  // One descriptor more every ten seconds, a reading a second; none for 45 s in the middle.
  for (int second = 100; second < 500; ++second) {
    if (second > 203 && second < 249) continue;
    course.add(second, {.descriptors = 20.0 + (second - 100) / 10});
  }
  const Trend descriptors = course.trends()[1];
  EXPECT_EQ(descriptors.name, "descriptors");
  EXPECT_EQ(descriptors.blocks, 40U - 3U);
  EXPECT_DOUBLE_EQ(descriptors.first, 20.0);
  EXPECT_DOUBLE_EQ(descriptors.last, 59.0);
  EXPECT_NEAR(descriptors.growth.whole.low, 360.0, 1e-6);
  EXPECT_NEAR(descriptors.growth.whole.high, 360.0, 1e-6);
}

}  // namespace
}  // namespace echoform::soak
