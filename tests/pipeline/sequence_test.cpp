#include "pipeline/sequence_tracker.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace echoform {
namespace {

constexpr std::uint64_t top = ~std::uint64_t{0};

TEST(SequenceTracker, CountsWhatWasSkippedOnceItIsSettled) {
  SequenceTracker tracker;
  tracker.start(10);
  EXPECT_EQ(tracker.mark(10, SequenceStatus::open), 0U);
  EXPECT_EQ(tracker.mark(14, SequenceStatus::open), 0U);
  EXPECT_EQ(tracker.mark(12, SequenceStatus::open), 0U);  // came late, in time
  EXPECT_EQ(tracker.settle(14), 2U);                      // 11 and 13
  EXPECT_TRUE(tracker.settled(13));
  EXPECT_FALSE(tracker.settled(14));
  EXPECT_EQ(tracker.settle_all(), 0U);
}

TEST(SequenceTracker, AJumpBeyondTheWindowIsCountedInFull) {
  SequenceTracker tracker;
  tracker.start(0);
  EXPECT_EQ(tracker.mark(0, SequenceStatus::closed), 0U);
  const std::uint64_t at_once = tracker.mark(10'000, SequenceStatus::open);
  EXPECT_EQ(at_once + tracker.settle(10'000), 9'999U);
}

TEST(SequenceTracker, GoesOnOverTheWrap) {
  SequenceTracker tracker;
  tracker.start(top - 1);
  EXPECT_EQ(tracker.mark(top - 1, SequenceStatus::closed), 0U);
  EXPECT_EQ(tracker.mark(2, SequenceStatus::open), 0U);
  EXPECT_EQ(tracker.status(top - 1), SequenceStatus::closed);
  EXPECT_EQ(tracker.settle(2), 3U);  // top, 0, 1
}

TEST(SequenceTracker, AgreesWithASetOfAllThatCame) {
  std::mt19937_64 random(7);
  for (int run = 0; run < 20; ++run) {
    const std::uint64_t first = run % 2 == 0 ? 1'000 : top - 500;  // every other run wraps
    SequenceTracker tracker;
    tracker.start(first);
    std::set<std::uint64_t> came;  // distances from `first`
    std::uint64_t head = 0, floor = 0, gaps = 0;
    for (int i = 0; i < 2'000; ++i) {
      head += random() % 4;
      const std::uint64_t back = random() % 6;
      const std::uint64_t place = head >= back ? head - back : 0;
      if (place >= floor && !tracker.settled(first + place)) {
        gaps += tracker.mark(first + place, SequenceStatus::open);
        came.insert(place);
      }
      if (random() % 8 == 0 && head > 10) {
        floor = head - 10;
        gaps += tracker.settle(first + floor);
      }
    }
    gaps += tracker.settle_all();
    EXPECT_EQ(gaps, *came.rbegin() + 1 - came.size()) << "run " << run;
  }
}

}  // namespace
}  // namespace echoform
