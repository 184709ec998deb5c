#include "pipeline/frame_assembler.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/pipeline/assembler_bench.hpp"

namespace echoform::test {
namespace {

using std::chrono::milliseconds;

TEST(FrameAssembler, PutsShotsOfEveryMatrixAndEncodingInTheirRows) {
  for (const MatrixKind matrix : {MatrixKind::full, MatrixKind::half, MatrixKind::half_summed}) {
    for (const SampleEncoding encoding : {SampleEncoding::int16, SampleEncoding::packed12, SampleEncoding::float32}) {
      Acquisition acquisition = small_acquisition(5, 7, matrix);
      acquisition.encoding = encoding;
      Bench bench(DropPolicy::block_sender, 2, acquisition);
      const LaneId lane = bench.lane();
      std::vector<std::uint32_t> order(5);
      std::iota(order.begin(), order.end(), 0U);
      std::mt19937 random(1);
      for (std::uint64_t sequence = 0; sequence < 20; ++sequence) {
        std::shuffle(order.begin(), order.end(), random);
        for (const std::uint32_t tx : order) ASSERT_EQ(bench.shot(lane, sequence, tx), ShotVerdict::accepted);
        ASSERT_EQ(bench.publish(), sequence);
      }
      EXPECT_EQ(bench.counters().bytes_received, 20 * acquisition.frame_bytes());
      EXPECT_EQ(bench.counters().frames_published, 20U);
    }
  }
}

TEST(FrameAssembler, LeavesToTheEngineWhatTheEngineSets) {
  // An engine is exchanged while slots fill, and what it sets with it: lanes that touched it would race with that.
  Bench bench(DropPolicy::block_sender, 1, small_acquisition(2, 3));
  FrameSlot& slot = bench.slots->front();
  slot.timings = {{"beamform", milliseconds(3)}};
  slot.clipped_samples = 4;
  slot.invalid_samples = 5;
  slot.outputs.resize(2);
  const LaneId lane = bench.lane();
  for (std::uint32_t tx = 0; tx < 2; ++tx) ASSERT_EQ(bench.shot(lane, 0, tx), ShotVerdict::accepted);
  EXPECT_EQ(slot.timings.size(), 1U);
  EXPECT_EQ(slot.clipped_samples, 4U);
  EXPECT_EQ(slot.invalid_samples, 5U);
  EXPECT_EQ(slot.outputs.size(), 2U);
}

TEST(FrameAssembler, PutsShotsOfEventsInTheirRowsAndWaitsForThoseOfLiveElements) {
  Acquisition acquisition = small_acquisition(5, 7, MatrixKind::full, {1});
  acquisition.events = element_events(std::vector<std::uint32_t>{4, 1, 2});
  Bench bench(DropPolicy::block_sender, 2, acquisition);
  const LaneId lane = bench.lane();
  for (std::uint64_t sequence = 0; sequence < 3; ++sequence) {
    EXPECT_EQ(bench.shot(lane, sequence, 1), ShotVerdict::discarded);  // of element 1, which is dead
    EXPECT_EQ(bench.shot(lane, sequence, 2), ShotVerdict::accepted);
    EXPECT_EQ(bench.shot(lane, sequence, 0), ShotVerdict::accepted);
    EXPECT_EQ(bench.publish(), sequence);
  }
  EXPECT_EQ(bench.shot(lane, 3, 3), ShotVerdict::invalid);
  EXPECT_EQ(bench.counters().frames_published, 3U);
  acquisition.probe.elements[4].dead = acquisition.probe.elements[2].dead = true;
  EXPECT_THROW(Bench(DropPolicy::block_sender, 2, acquisition), InputError);
}

TEST(FrameAssembler, KeepsTimesOfTheFirstAndLastByteAndTheEarliestShot) {
  Bench bench(DropPolicy::block_sender, 2, small_acquisition(3));
  const LaneId lane = bench.lane();
  const std::array<std::int64_t, 3> fired = {0, 900, 700};
  for (std::uint32_t tx = 0; tx < 3; ++tx) {
    bench.clock.advance(milliseconds(10));
    const ShotPlace place = bench.assembler->begin_shot(lane, {1, tx, WallTime(fired[tx])}, shot_bytes(bench.acquisition, tx));
    bench.clock.advance(milliseconds(1));
    bench.assembler->finish_shot(lane, place.ticket);
  }
  const auto slot = bench.edge.try_take();
  ASSERT_TRUE(slot);
  EXPECT_EQ((*slot)->first_byte_time, milliseconds(10));
  EXPECT_EQ((*slot)->last_byte_time, milliseconds(33));
  EXPECT_EQ((*slot)->acquisition_time.count(), 700);
}

/// Each shot has its own position, as on a probe that moves; some state none.
TEST(FrameAssembler, AFramesPositionIsThatOfItsFirstTransmitWhicheverLaneAndOrderItComesBy) {
  const std::vector<std::vector<std::optional<EncoderCount>>> stated{{40, 41, 42, 43},
                                                                     {std::nullopt, -7, std::nullopt, 9},
                                                                     {0, std::nullopt, 5, 6},
                                                                     {std::nullopt, std::nullopt, std::nullopt, 3},
                                                                     {std::nullopt, std::nullopt, std::nullopt, std::nullopt}};
  const std::vector<std::optional<EncoderCount>> expected{40, -7, 0, 3, std::nullopt};
  Bench bench(DropPolicy::block_sender, 1);
  const std::array<LaneId, 2> lanes{bench.lane(), bench.lane()};
  std::uint64_t sequence = 0;
  for (std::size_t c = 0; c < stated.size(); ++c) {
    std::vector<std::uint32_t> order{0, 1, 2, 3};
    do {
      // By each lane every other shot, one lane's payload under way while the other's comes.
      std::array<std::uint64_t, 2> tickets{};
      for (std::size_t k = 0; k < 4; ++k) {
        const std::uint32_t tx = order[k];
        const ShotPlace place = bench.assembler->begin_shot(lanes[k % 2], {sequence, tx, WallTime(0), stated[c][tx]},
                                                            shot_bytes(bench.acquisition, tx));
        ASSERT_EQ(place.verdict, ShotVerdict::accepted);
        fill(place.place, sequence, tx);
        tickets[k % 2] = place.ticket;
        if (k % 2 == 0) continue;
        bench.assembler->finish_shot(lanes[1], tickets[1]);
        bench.assembler->finish_shot(lanes[0], tickets[0]);
      }
      EXPECT_EQ((*bench.slots)[0].position, expected[c]) << "case " << c << ", frame " << sequence;
      ASSERT_EQ(bench.publish(), sequence++);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST(FrameAssembler, ShotsThatAreNotInTheFrameLeaveItsPositionAlone) {
  Bench bench(DropPolicy::block_sender, 1, small_acquisition(4, 8, MatrixKind::full, {0}));
  const LaneId lane = bench.lane();
  const LaneId other = bench.lane();
  const auto begin = [&](LaneId by, std::uint32_t tx, EncoderCount position) {
    return bench.assembler->begin_shot(by, {0, tx, WallTime(0), position}, shot_bytes(bench.acquisition, tx));
  };
  const auto send = [&](LaneId by, std::uint32_t tx, EncoderCount position) {
    const ShotPlace place = begin(by, tx, position);
    if (place.verdict != ShotVerdict::accepted) return place.verdict;
    fill(place.place, 0, tx);
    bench.assembler->finish_shot(by, place.ticket);
    return place.verdict;
  };
  EXPECT_EQ(send(lane, 2, 12), ShotVerdict::accepted);
  EXPECT_EQ(send(lane, 0, 10), ShotVerdict::discarded);   // of a dead element
  EXPECT_EQ(send(other, 2, 99), ShotVerdict::discarded);  // a duplicate
  const ShotPlace broken = begin(lane, 1, 11);            // whose lane breaks
  bench.assembler->abandon_shot(lane, broken.ticket);
  EXPECT_EQ((*bench.slots)[0].position, EncoderCount{12});
  EXPECT_EQ(send(other, 1, -1), ShotVerdict::accepted);  // the same shot by another way
  EXPECT_EQ(send(other, 3, 13), ShotVerdict::accepted);
  EXPECT_EQ((*bench.slots)[0].position, EncoderCount{-1});
  EXPECT_EQ(bench.publish(), 0U);
}

TEST(FrameAssembler, RefusesWhatBreaksTheContract) {
  Bench bench;
  const LaneId lane = bench.lane();
  EXPECT_EQ(bench.assembler->begin_shot(lane, {0, 4, {}}, 64).verdict, ShotVerdict::invalid);  // transmit out of range
  const std::size_t right = shot_bytes(bench.acquisition, 0);
  for (const std::size_t bytes : {std::size_t{0}, right - 1, right + 1, ~std::size_t{0}}) {
    EXPECT_EQ(bench.assembler->begin_shot(lane, {0, 0, {}}, bytes).verdict, ShotVerdict::invalid) << bytes;
  }
  EXPECT_EQ(bench.assembler->begin_shot(lane + 1, {0, 0, {}}, right).verdict, ShotVerdict::invalid);  // no such lane
  const ShotPlace open = bench.begin(lane, 0, 0);
  EXPECT_EQ(bench.begin(lane, 0, 1).verdict, ShotVerdict::invalid);  // the one before is not finished
  bench.assembler->finish_shot(lane, open.ticket + 1);               // not its ticket: nothing happens
  bench.assembler->abandon_shot(lane + 1, open.ticket);
  EXPECT_EQ(bench.counters().bytes_received, 0U);
  bench.assembler->finish_shot(lane, open.ticket);
  bench.assembler->finish_shot(lane, open.ticket);  // once is enough
  EXPECT_EQ(bench.counters().bytes_received, right);
  EXPECT_EQ(bench.counters().frames_received, 1U);
}

TEST(FrameAssembler, CountsDuplicateAndStaleShotsAndKeepsTheFirst) {
  Bench bench;
  const LaneId lane = bench.lane();
  EXPECT_EQ(bench.shot(lane, 5, 0), ShotVerdict::accepted);
  EXPECT_EQ(bench.shot(lane, 5, 0), ShotVerdict::discarded);
  for (std::uint32_t tx = 1; tx < 4; ++tx) EXPECT_EQ(bench.shot(lane, 5, tx), ShotVerdict::accepted);
  EXPECT_EQ(bench.shot(lane, 5, 2), ShotVerdict::discarded);  // in time for nothing
  EXPECT_EQ(bench.publish(), 5U);
  bench.frame(lane, 6);
  EXPECT_EQ(bench.shot(lane, 5, 1), ShotVerdict::discarded);
  const CounterSnapshot counters = bench.counters();
  EXPECT_EQ(counters.shots_duplicate, 1U);
  EXPECT_EQ(counters.shots_stale, 2U);
  EXPECT_EQ(counters.frames_received, 2U);
  EXPECT_EQ(counters.sequence_gaps, 0U);
}

TEST(FrameAssembler, DeadElementsNeitherHoldAFrameUpNorLeaveSamples) {
  for (const MatrixKind matrix : {MatrixKind::full, MatrixKind::half}) {
    Bench bench(DropPolicy::block_sender, 1, small_acquisition(4, 8, matrix, {1, 3}));
    const LaneId lane = bench.lane();
    for (std::uint64_t sequence = 0; sequence < 3; ++sequence) {
      // Element 1 fires all the same in every frame, element 3 never.
      EXPECT_EQ(bench.shot(lane, sequence, 1), ShotVerdict::discarded);
      EXPECT_EQ(bench.shot(lane, sequence, 0), ShotVerdict::accepted);
      EXPECT_EQ(bench.shot(lane, sequence, 2), ShotVerdict::accepted);
      EXPECT_EQ(bench.publish(), sequence);  // the same slot each time; checks that the rows are zero
    }
    EXPECT_EQ(bench.counters().shots_stale + bench.counters().shots_duplicate, 0U);
  }
  EXPECT_THROW(Bench(DropPolicy::block_sender, 1, small_acquisition(2, 8, MatrixKind::full, {0, 1})), InputError);
}

TEST(FrameAssembler, AFrameIsIncompleteWhenNothingCameForTheTimeOut) {
  Bench bench;
  const LaneId lane = bench.lane();
  EXPECT_EQ(bench.shot(lane, 1, 0), ShotVerdict::accepted);
  bench.clock.advance(milliseconds(99));
  bench.assembler->expire();
  EXPECT_EQ(bench.counters().dropped(), 0U);
  EXPECT_EQ(bench.shot(lane, 1, 1), ShotVerdict::accepted);  // progress
  bench.clock.advance(milliseconds(99));
  bench.assembler->expire();
  EXPECT_EQ(bench.counters().dropped(), 0U);
  bench.clock.advance(milliseconds(1));
  bench.assembler->expire();
  EXPECT_EQ(dropped(bench.counters(), DropReason::incomplete), 1U);
  EXPECT_EQ(bench.counters().slots_free, 4U);
  EXPECT_EQ(bench.shot(lane, 1, 2), ShotVerdict::discarded);
  EXPECT_EQ(bench.counters().shots_stale, 1U);
  EXPECT_EQ(bench.counters().frames_received, 1U);
}

TEST(FrameAssembler, AFrameIsIncompleteWhenItsOnlyLaneMovesOn) {
  Bench bench;
  const LaneId lane = bench.lane();
  EXPECT_EQ(bench.shot(lane, 1, 0), ShotVerdict::accepted);
  bench.frame(lane, 2);
  EXPECT_EQ(dropped(bench.counters(), DropReason::incomplete), 1U);
  EXPECT_EQ(bench.publish(), 2U);
}

TEST(FrameAssembler, StripedLanesMayRunAheadOfEachOther) {
  Bench bench;
  const LaneId a = bench.lane(), b = bench.lane();
  for (std::uint64_t sequence = 0; sequence < 3; ++sequence) {
    EXPECT_EQ(bench.shot(a, sequence, 0), ShotVerdict::accepted);
    EXPECT_EQ(bench.shot(a, sequence, 1), ShotVerdict::accepted);
  }
  EXPECT_EQ(bench.counters().frames_in_flight, 3U);
  for (std::uint64_t sequence = 0; sequence < 3; ++sequence) {
    EXPECT_EQ(bench.shot(b, sequence, 3), ShotVerdict::accepted);
    EXPECT_EQ(bench.shot(b, sequence, 2), ShotVerdict::accepted);
    EXPECT_EQ(bench.publish(), sequence);
  }
  // b moves on from 3, which it leaves without its half, while a stays: only then it is incomplete.
  EXPECT_EQ(bench.shot(a, 3, 0), ShotVerdict::accepted);
  EXPECT_EQ(bench.shot(b, 4, 2), ShotVerdict::accepted);
  EXPECT_EQ(bench.counters().dropped(), 0U);
  EXPECT_EQ(bench.shot(a, 4, 0), ShotVerdict::accepted);
  EXPECT_EQ(dropped(bench.counters(), DropReason::incomplete), 1U);
  EXPECT_EQ(bench.counters().sequence_gaps, 0U);
}

TEST(FrameAssembler, WholeFramesMayAlternateBetweenLanes) {
  Bench bench;
  const LaneId even = bench.lane(), odd = bench.lane();
  for (std::uint64_t pair = 0; pair < 20; pair += 2) {
    bench.frame(even, pair);
    EXPECT_EQ(bench.publish(), pair);
    if (pair > 0) {
      bench.frame(odd, pair - 1);  // late, as its lane lags
      EXPECT_EQ(bench.publish(), pair - 1);
    }
  }
  EXPECT_EQ(bench.counters().sequence_gaps, 0U);
  EXPECT_EQ(bench.counters().frames_published, 19U);
}

TEST(FrameAssembler, ADisconnectDropsWhatCannotBecomeComplete) {
  Bench bench;
  const LaneId a = bench.lane(), b = bench.lane();
  EXPECT_EQ(bench.shot(a, 0, 0), ShotVerdict::accepted);
  EXPECT_EQ(bench.shot(a, 1, 0), ShotVerdict::accepted);
  EXPECT_EQ(bench.shot(b, 1, 1), ShotVerdict::accepted);
  EXPECT_EQ(bench.counters().dropped(), 1U);  // 0: both have moved on
  bench.assembler->close_lane(a);
  EXPECT_EQ(bench.counters().dropped(), 1U);  // b may still send the rest of 1
  bench.assembler->close_lane(b);
  EXPECT_EQ(dropped(bench.counters(), DropReason::incomplete), 2U);
  EXPECT_EQ(bench.counters().slots_free, 4U);
  EXPECT_EQ(bench.assembler->open_lanes(), 0U);
}

TEST(FrameAssembler, ASlotIsNotReusedWhileABrokenLaneStillWrites) {
  Bench bench(DropPolicy::drop_newest, 1);
  const LaneId a = bench.lane(), b = bench.lane();
  const ShotPlace slow = bench.begin(a, 0, 0);
  ASSERT_EQ(slow.verdict, ShotVerdict::accepted);
  bench.clock.advance(milliseconds(100));
  bench.assembler->expire();
  EXPECT_EQ(dropped(bench.counters(), DropReason::incomplete), 1U);
  EXPECT_EQ(bench.counters().slots_free, 0U);
  EXPECT_EQ(bench.shot(b, 1, 0), ShotVerdict::discarded);  // no slot: a still writes
  EXPECT_EQ(dropped(bench.counters(), DropReason::ring_full), 1U);
  fill(slow.place, 0, 0);
  bench.assembler->abandon_shot(a, slow.ticket);
  EXPECT_EQ(bench.counters().slots_free, 1U);
  bench.frame(b, 2);
  EXPECT_EQ(bench.publish(), 2U);
  EXPECT_EQ(bench.counters().frames_received, 3U);
}

TEST(FrameAssembler, AnAbandonedShotMayComeAgainOnAnotherLane) {
  Bench bench;
  const LaneId a = bench.lane(), b = bench.lane();
  const ShotPlace broken = bench.begin(a, 0, 0);
  fill(broken.place.first(5), 99, 99);
  for (std::uint32_t tx = 1; tx < 4; ++tx) EXPECT_EQ(bench.shot(b, 0, tx), ShotVerdict::accepted);
  bench.assembler->close_lane(a);  // in mid-payload: abandons by itself
  EXPECT_EQ(bench.counters().dropped(), 0U);
  EXPECT_EQ(bench.shot(b, 0, 0), ShotVerdict::accepted);
  EXPECT_EQ(bench.publish(), 0U);
}

TEST(FrameAssembler, DropNewestRefusesAFrameOnce) {
  Bench bench(DropPolicy::drop_newest, 2);
  const LaneId lane = bench.lane();
  for (std::uint64_t sequence = 0; sequence < 5; ++sequence) bench.frame(lane, sequence);
  CounterSnapshot counters = bench.counters();
  EXPECT_EQ(counters.frames_received, 5U);
  EXPECT_EQ(dropped(counters, DropReason::ring_full), 3U);
  EXPECT_EQ(counters.shots_stale + counters.shots_duplicate, 0U);
  EXPECT_EQ(bench.publish(), 0U);
  // A slot is free again, but the refused frame stays refused.
  EXPECT_EQ(bench.shot(lane, 4, 3), ShotVerdict::discarded);
  EXPECT_EQ(bench.counters().frames_received, 5U);
  bench.frame(lane, 5);
  EXPECT_EQ(bench.publish(), 1U);
  EXPECT_EQ(bench.publish(), 5U);
  EXPECT_EQ(bench.counters().sequence_gaps, 0U);
}

TEST(FrameAssembler, DropOldestGivesTheOldestQueuedFrameUp) {
  Bench bench(DropPolicy::drop_oldest, 3);
  const LaneId lane = bench.lane();
  for (std::uint64_t sequence = 0; sequence < 7; ++sequence) bench.frame(lane, sequence);
  EXPECT_EQ(dropped(bench.counters(), DropReason::superseded), 4U);
  EXPECT_EQ(bench.publish(), 4U);
  EXPECT_EQ(bench.publish(), 5U);
  EXPECT_EQ(bench.publish(), 6U);
  EXPECT_EQ(bench.publish(), std::nullopt);
}

TEST(FrameAssembler, DropOldestRefusesWhenNothingIsQueued) {
  Bench bench(DropPolicy::drop_oldest, 1);
  const LaneId lane = bench.lane();
  bench.frame(lane, 0);
  const auto imaging = bench.edge.try_take();
  ASSERT_TRUE(imaging);
  bench.ledger->start_imaging((*imaging)->index);
  bench.frame(lane, 1);
  EXPECT_EQ(dropped(bench.counters(), DropReason::ring_full), 1U);
  EXPECT_EQ(dropped(bench.counters(), DropReason::superseded), 0U);
}

TEST(FrameAssembler, ABlockedLaneWaitsUncountedUntilASlotIsFree) {
  Bench bench(DropPolicy::block_sender, 1);
  Bell bell;
  const LaneId lane = bench.assembler->open_lane(bell.wake());
  bench.frame(lane, 0);
  EXPECT_EQ(bench.begin(lane, 1, 0).verdict, ShotVerdict::wait);
  EXPECT_EQ(bench.begin(lane, 1, 0).verdict, ShotVerdict::wait);  // it may ask without being woken
  EXPECT_EQ(bench.counters().frames_received, 1U);
  EXPECT_EQ(bell.rings(), 0);
  EXPECT_EQ(bench.publish(), 0U);
  EXPECT_EQ(bell.rings(), 1);
  bench.frame(lane, 1);
  EXPECT_EQ(bench.publish(), 1U);
  EXPECT_EQ(bell.rings(), 1);
  EXPECT_EQ(bench.counters().dropped(), 0U);
}

TEST(FrameAssembler, LanesThatWaitForOneFrameAreAllWoken) {
  Bench bench(DropPolicy::block_sender, 1);
  Bell bell_a, bell_b;
  const LaneId a = bench.assembler->open_lane(bell_a.wake()), b = bench.assembler->open_lane(bell_b.wake());
  bench.frame(a, 0);
  EXPECT_EQ(bench.begin(a, 1, 0).verdict, ShotVerdict::wait);
  EXPECT_EQ(bench.begin(b, 1, 1).verdict, ShotVerdict::wait);
  EXPECT_EQ(bench.publish(), 0U);
  EXPECT_EQ(bell_a.rings(), 1);
  EXPECT_EQ(bell_b.rings(), 1);
  EXPECT_EQ(bench.shot(a, 1, 0), ShotVerdict::accepted);
  EXPECT_EQ(bench.shot(b, 1, 1), ShotVerdict::accepted);
}

TEST(FrameAssembler, IncompleteFramesCannotStarveLanesThatHaveAllMovedOn) {
  Bench bench(DropPolicy::block_sender, 2);
  Bell bell;
  const LaneId a = bench.assembler->open_lane(bell.wake()), b = bench.lane();
  EXPECT_EQ(bench.shot(a, 0, 0), ShotVerdict::accepted);
  EXPECT_EQ(bench.shot(a, 1, 0), ShotVerdict::accepted);
  EXPECT_EQ(bench.begin(a, 2, 0).verdict, ShotVerdict::wait);  // both slots fill; b might send its parts
  EXPECT_EQ(bench.shot(b, 1, 1), ShotVerdict::accepted);       // b has left 0: incomplete, and a is woken
  EXPECT_EQ(dropped(bench.counters(), DropReason::incomplete), 1U);
  EXPECT_EQ(bell.rings(), 1);
  EXPECT_EQ(bench.shot(a, 2, 0), ShotVerdict::accepted);
  EXPECT_EQ(bench.begin(a, 3, 0).verdict, ShotVerdict::wait);
  EXPECT_EQ(bench.shot(b, 3, 1), ShotVerdict::accepted);  // all have left 1 and 2: their slots go to 3
  EXPECT_EQ(bell.rings(), 2);
  EXPECT_EQ(bench.shot(a, 3, 0), ShotVerdict::accepted);
  EXPECT_EQ(dropped(bench.counters(), DropReason::incomplete), 3U);
  // And a lane that is silent for good costs no more than the time-out.
  EXPECT_EQ(bench.shot(a, 4, 0), ShotVerdict::accepted);
  EXPECT_EQ(bench.begin(a, 5, 0).verdict, ShotVerdict::wait);
  bench.clock.advance(milliseconds(100));
  bench.assembler->expire();
  EXPECT_EQ(bell.rings(), 3);
  EXPECT_EQ(bench.shot(a, 5, 0), ShotVerdict::accepted);
}

TEST(FrameAssembler, ALaneThatRunsAheadOfAnotherIsHeldBackUnderEveryPolicy) {
  for (const DropPolicy policy : {DropPolicy::drop_oldest, DropPolicy::drop_newest}) {
    Bench bench(policy, 2);
    Bell bell;
    const LaneId a = bench.assembler->open_lane(bell.wake()), b = bench.lane();
    EXPECT_EQ(bench.shot(a, 0, 0), ShotVerdict::accepted);
    EXPECT_EQ(bench.shot(a, 1, 0), ShotVerdict::accepted);
    EXPECT_EQ(bench.begin(a, 2, 0).verdict, ShotVerdict::wait);  // not the engine's fault: nothing to drop
    for (std::uint32_t tx = 1; tx < 4; ++tx) EXPECT_EQ(bench.shot(b, 0, tx), ShotVerdict::accepted);
    EXPECT_EQ(bell.rings(), 1);  // the policy decides again
    EXPECT_EQ(bench.publish(), 0U);
    EXPECT_EQ(bench.shot(a, 2, 0), ShotVerdict::accepted);
    EXPECT_EQ(bench.counters().dropped(), 0U);
  }
}

}  // namespace
}  // namespace echoform::test
