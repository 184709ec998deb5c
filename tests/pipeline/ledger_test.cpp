#include "pipeline/frame_ledger.hpp"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <thread>

namespace echoform {
namespace {

TEST(FrameLedger, AFrameGoesItsWayAndClosesAtEveryStep) {
  FrameLedger ledger;
  int freed = 0;
  ledger.set_listener([&] { ++freed; });
  ledger.reset_slots(2);
  const auto slot = ledger.lease();
  ASSERT_TRUE(slot);
  for (const auto step : {&FrameLedger::queue, &FrameLedger::start_imaging, &FrameLedger::start_publishing}) {
    EXPECT_EQ(ledger.snapshot().frames_in_flight, 1U);
    EXPECT_TRUE(ledger.snapshot().closes());
    (ledger.*step)(*slot);
  }
  const CounterSnapshot as_published = ledger.snapshot_with_published(*slot);
  EXPECT_EQ(as_published.frames_published, 1U);
  EXPECT_EQ(as_published.frames_in_flight, 0U);
  EXPECT_TRUE(as_published.closes());
  EXPECT_EQ(ledger.snapshot().frames_published, 0U);
  ledger.publish(*slot);
  EXPECT_EQ(freed, 1);
  EXPECT_EQ(ledger.snapshot().slots_free, 2U);
  EXPECT_EQ(ledger.snapshot().frames_published, 1U);
  EXPECT_TRUE(ledger.snapshot().closes());
}

TEST(FrameLedger, SlotsGoRoundARing) {
  FrameLedger ledger;
  ledger.reset_slots(3);
  EXPECT_EQ(ledger.lease(), 0U);
  EXPECT_EQ(ledger.lease(), 1U);
  ledger.drop(0, DropReason::incomplete);
  EXPECT_EQ(ledger.lease(), 2U);
  EXPECT_EQ(ledger.lease(), 0U);
  EXPECT_EQ(ledger.lease(), std::nullopt);
  EXPECT_EQ(ledger.snapshot().frames_received, 4U);  // the refused lease counted nothing
}

TEST(FrameLedger, ADrainingSlotIsNeitherFreeNorInFlight) {
  FrameLedger ledger;
  int freed = 0;
  ledger.set_listener([&] { ++freed; });
  ledger.reset_slots(1);
  ASSERT_EQ(ledger.lease(), 0U);
  ledger.drop(0, DropReason::incomplete, true);
  EXPECT_EQ(freed, 0);
  EXPECT_EQ(ledger.state(0), SlotState::draining);
  EXPECT_EQ(ledger.snapshot().frames_in_flight, 0U);
  EXPECT_EQ(ledger.snapshot().slots_free, 0U);
  EXPECT_TRUE(ledger.snapshot().closes());
  EXPECT_EQ(ledger.lease(), std::nullopt);
  ledger.drained(0);
  EXPECT_EQ(freed, 1);
  EXPECT_EQ(ledger.lease(), 0U);
}

TEST(FrameLedger, StepsThatDoNotFitAreRefusedAndChangeNothing) {
  FrameLedger ledger;
  ledger.reset_slots(1);
  EXPECT_THROW(ledger.queue(0), std::logic_error);
  EXPECT_THROW(ledger.drop(0, DropReason::failed), std::logic_error);
  EXPECT_THROW(ledger.drained(0), std::logic_error);
  EXPECT_THROW(ledger.publish(5), std::logic_error);
  ASSERT_TRUE(ledger.lease());
  EXPECT_THROW(ledger.supersede(0), std::logic_error);
  EXPECT_THROW(ledger.start_publishing(0), std::logic_error);
  EXPECT_THROW(ledger.reset_slots(2), std::logic_error);
  EXPECT_TRUE(ledger.snapshot().closes());
  EXPECT_EQ(ledger.snapshot().frames_in_flight, 1U);
}

TEST(FrameLedger, TotalsOutliveTheSlots) {
  FrameLedger ledger;
  ledger.reset_slots(1);
  ASSERT_TRUE(ledger.lease());
  ledger.queue(0);
  ledger.supersede(0);
  ledger.drop(0, DropReason::incomplete);
  ledger.refuse(DropReason::ring_full);
  ledger.count_bytes(10);
  ledger.count_gaps(3);
  ledger.reset_slots(5);
  const CounterSnapshot counters = ledger.snapshot();
  EXPECT_EQ(counters.frames_received, 3U);
  EXPECT_EQ(counters.dropped(), 3U);
  EXPECT_EQ(counters.bytes_received, 10U);
  EXPECT_EQ(counters.sequence_gaps, 3U);
  EXPECT_EQ(counters.slots, 5U);
  EXPECT_TRUE(counters.closes());
}

TEST(FrameLedger, WaitingForIdleEndsWithTheLastFrame) {
  FrameLedger ledger;
  ledger.reset_slots(2);
  EXPECT_TRUE(ledger.wait_until_idle(std::chrono::seconds(0)));
  ASSERT_TRUE(ledger.lease());
  EXPECT_TRUE(ledger.wait_until_idle(std::chrono::seconds(0)));  // filling is the senders' business
  ledger.queue(0);
  EXPECT_FALSE(ledger.wait_until_idle(std::chrono::seconds(0)));
  EXPECT_TRUE(ledger.wait_until_idle(std::chrono::seconds(0), false));
  std::jthread other([&] {
    ledger.start_imaging(0);
    ledger.start_publishing(0);
    ledger.publish(0);
  });
  EXPECT_TRUE(ledger.wait_until_idle(std::chrono::seconds(60)));
}

TEST(FrameLedger, EverySampleClosesWhileThreadsMoveFrames) {
  FrameLedger ledger;
  ledger.reset_slots(4);
  std::atomic<int> running{3};
  std::vector<std::jthread> movers;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    movers.emplace_back([&ledger, &running, seed] {
      std::mt19937 random(seed);
      for (int i = 0; i < 20'000; ++i) {
        const auto slot = ledger.lease();
        if (!slot) {
          ledger.refuse(DropReason::ring_full);
          continue;
        }
        const auto fate = random() % 4;
        if (fate == 0) {
          ledger.drop(*slot, DropReason::incomplete, true);
          ledger.drained(*slot);
          continue;
        }
        ledger.queue(*slot);
        if (fate == 1) {
          ledger.supersede(*slot);
          ledger.queue(*slot);
        }
        ledger.start_imaging(*slot);
        if (fate == 2) {
          ledger.drop(*slot, DropReason::failed);
          continue;
        }
        ledger.start_publishing(*slot);
        ledger.publish(*slot);
      }
      --running;
    });
  }
  std::size_t samples = 0, open_ones = 0;
  while (running != 0) {
    ++samples;
    if (!ledger.snapshot().closes()) ++open_ones;
  }
  EXPECT_EQ(open_ones, 0U) << "of " << samples;
  EXPECT_TRUE(ledger.snapshot().closes());
  EXPECT_EQ(ledger.snapshot().slots_free, 4U);
}

}  // namespace
}  // namespace echoform
