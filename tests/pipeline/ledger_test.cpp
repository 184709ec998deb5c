#include "pipeline/frame_ledger.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tests/support/patience.hpp"
#include "tests/support/sleeper.hpp"

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
  EXPECT_TRUE(ledger.wait_until_idle(patience));
}

/// A frame on its way: queued, imaging or publishing.
std::size_t frame_at(FrameLedger& ledger, SlotState state) {
  const std::size_t slot = ledger.lease().value();
  if (state == SlotState::filling) return slot;
  ledger.queue(slot);
  if (state == SlotState::queued) return slot;
  ledger.start_imaging(slot);
  if (state == SlotState::publishing) ledger.start_publishing(slot);
  return slot;
}

TEST(FrameLedger, WhoWaitsForIdleIsWokenByWhateverEndsTheLastFrame) {
  struct Case {
    const char* what;
    SlotState state;
    std::function<void(FrameLedger&, std::size_t)> end;
  };
  const std::array<Case, 5> cases{
      Case{"publish", SlotState::publishing, [](FrameLedger& l, std::size_t slot) { l.publish(slot); }},
      Case{"publish, notice later", SlotState::publishing,
           [](FrameLedger& l, std::size_t slot) { l.publish(slot, Notify::later); }},
      Case{"drop", SlotState::imaging, [](FrameLedger& l, std::size_t slot) { l.drop(slot, DropReason::failed); }},
      Case{"drop, still written", SlotState::queued,
           [](FrameLedger& l, std::size_t slot) { l.drop(slot, DropReason::failed, true); }},
      Case{"drop_unpublished", SlotState::queued, [](FrameLedger& l, std::size_t) { l.drop_unpublished(DropReason::stopped); }}};
  for (const Case& one : cases) {
    FrameLedger ledger;
    ledger.reset_slots(2);
    const std::size_t slot = frame_at(ledger, one.state);
    bool idle = false;
    {
      test::Sleeper waiter([&] { idle = ledger.wait_until_idle(test::endless); });
      ASSERT_TRUE(waiter.sleeps()) << one.what;
      one.end(ledger, slot);
      EXPECT_TRUE(waiter.returns()) << one.what << " wakes nobody";
      // Were it not woken, this test would not end.
      ledger.publish(frame_at(ledger, SlotState::publishing));
      ledger.drop(frame_at(ledger, SlotState::queued), DropReason::failed);
      ledger.drop_unpublished(DropReason::stopped);
    }
    EXPECT_TRUE(idle) << one.what;
  }
}

TEST(FrameLedger, DropsAllThatIsNotPublishedAndSaysSo) {
  FrameLedger ledger;
  int freed = 0;
  ledger.set_listener([&] { ++freed; });
  ledger.reset_slots(5);
  for (const SlotState state : {SlotState::queued, SlotState::imaging, SlotState::filling, SlotState::publishing}) {
    static_cast<void>(frame_at(ledger, state));
  }
  ledger.drop_unpublished(DropReason::stopped);
  EXPECT_EQ(freed, 1) << "a slot is free again";
  const CounterSnapshot counters = ledger.snapshot();
  EXPECT_EQ(counters.frames_dropped.at(static_cast<std::size_t>(DropReason::stopped)), 3U);
  EXPECT_EQ(counters.frames_in_flight, 1U) << "the one that still arrives";
  EXPECT_EQ(ledger.state(2), SlotState::filling);
  EXPECT_EQ(counters.slots_free, 4U);
  EXPECT_TRUE(counters.closes());
}

TEST(FrameLedger, TheListenerIsCalledOnceForASlotThatIsFreeOrByTheCallerLater) {
  FrameLedger ledger;
  int freed = 0;
  ledger.set_listener([&] { ++freed; });
  ledger.reset_slots(1);
  const auto times = [&] { return std::exchange(freed, 0); };
  ledger.drop(frame_at(ledger, SlotState::queued), DropReason::failed);
  EXPECT_EQ(times(), 1);
  ledger.drop(frame_at(ledger, SlotState::queued), DropReason::failed, false, Notify::later);
  EXPECT_EQ(times(), 0);
  ledger.publish(frame_at(ledger, SlotState::publishing), Notify::later);
  EXPECT_EQ(times(), 0);
  ledger.drop(frame_at(ledger, SlotState::filling), DropReason::incomplete, true, Notify::now);
  EXPECT_EQ(times(), 0) << "it is still written";
  ledger.drained(0, Notify::later);
  EXPECT_EQ(times(), 0);
  ledger.notify_freed();
  EXPECT_EQ(times(), 1);
}

TEST(FrameLedger, CountsWhatComesBesideFramesApart) {
  FrameLedger ledger;
  ledger.count_duplicate_shot();
  for (int k = 0; k < 2; ++k) ledger.count_stale_shot();
  for (int k = 0; k < 2; ++k) ledger.count_bytes(100);
  for (int k = 0; k < 2; ++k) ledger.count_gaps(30);
  for (int k = 0; k < 2; ++k) ledger.count_samples(5, 7);
  const CounterSnapshot counters = ledger.snapshot();
  EXPECT_EQ(counters.shots_duplicate, 1U);
  EXPECT_EQ(counters.shots_stale, 2U);
  EXPECT_EQ(counters.bytes_received, 200U);
  EXPECT_EQ(counters.sequence_gaps, 60U);
  EXPECT_EQ(counters.clipped_samples, 10U);
  EXPECT_EQ(counters.invalid_samples, 14U);
  EXPECT_EQ(counters.frames_received, 0U);
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
