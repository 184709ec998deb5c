// Measurements in turn: who is measured when, and what is compared with what.
#include "benchmarks/turns.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace echoform::benchmarks {
namespace {

TEST(Turns, EverySecondRoundGoesBackwards) {
  double time = 0.0;
  const auto next = [&] { return ++time; };
  std::vector<std::size_t> rounds;
  const Turns turns = take_turns(3, {{"limit", next}, {"ours", next}}, [&](std::size_t round) { rounds.push_back(round); });
  EXPECT_THAT(turns.order(), testing::ElementsAre("limit", "ours", "ours", "limit", "limit", "ours"));
  EXPECT_THAT(turns.names(), testing::ElementsAre("limit", "ours"));
  EXPECT_THAT(turns.values("limit"), testing::ElementsAre(1.0, 4.0, 5.0));
  EXPECT_THAT(turns.values("ours"), testing::ElementsAre(2.0, 3.0, 6.0));
  EXPECT_THAT(rounds, testing::ElementsAre(0, 1, 2));
}

TEST(Turns, RatiosAreOfOneRound) {
  // A machine that becomes four times as slow: rounds still agree on the ratio, medians of all rounds need not.
  Turns turns;
  for (const double speed : {4.0, 1.0, 2.0}) {
    turns.add("limit", 10.0 * speed);
    turns.add("ours", 9.0 * speed);
  }
  const Spread ratio = turns.ratio("ours", "limit");
  EXPECT_DOUBLE_EQ(ratio.median, 0.9);
  EXPECT_DOUBLE_EQ(ratio.least, 0.9);
  EXPECT_DOUBLE_EQ(ratio.most, 0.9);
  EXPECT_EQ(turns.spread("ours").least, 9.0);
  EXPECT_EQ(turns.spread("ours").most, 36.0);
  EXPECT_THROW((void)turns.values("theirs"), std::out_of_range);
}

TEST(Turns, ThereIsARoundWhereNoneIsAskedFor) {
  EXPECT_THAT(take_turns(0, {{"one", [] { return 7.0; }}}).values("one"), testing::ElementsAre(7.0));
}

}  // namespace
}  // namespace echoform::benchmarks
