// Sequences, restarts and lanes of the frame assembler.
#include "tests/pipeline/assembler_bench.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

TEST(FrameAssembler, CountsGapsOnceEveryLaneIsPastThem) {
  Bench bench;
  const LaneId a = bench.lane();
  bench.frame(a, 10);
  bench.frame(a, 13);
  EXPECT_EQ(bench.counters().sequence_gaps, 2U);
  const LaneId b = bench.lane();
  bench.frame(a, 20);
  EXPECT_EQ(bench.counters().sequence_gaps, 2U);  // b might bring 14 .. 19
  EXPECT_EQ(bench.publish(), 10U);
  bench.frame(b, 15);
  EXPECT_EQ(bench.counters().sequence_gaps, 3U);  // 14
  EXPECT_EQ(bench.publish(), 13U);
  bench.frame(b, 21);
  EXPECT_EQ(bench.counters().sequence_gaps, 7U);  // 16 .. 19
  EXPECT_EQ(bench.counters().frames_received, 5U);
}

TEST(FrameAssembler, SequencesWrapWithoutAGap) {
  Bench bench;
  const LaneId lane = bench.lane();
  for (std::uint64_t sequence = ~std::uint64_t{0} - 3; sequence != 4; ++sequence) {
    bench.frame(lane, sequence);
    EXPECT_EQ(bench.publish(), sequence);
  }
  bench.frame(lane, 6);
  EXPECT_EQ(bench.counters().sequence_gaps, 2U);
  EXPECT_EQ(bench.counters().frames_published, 8U);
}

TEST(FrameAssembler, ARestartedSenderIsNoGiantGap) {
  Bench bench;
  LaneId lane = bench.lane();
  bench.frame(lane, 1'000'000);
  EXPECT_EQ(bench.publish(), 1'000'000U);
  EXPECT_EQ(bench.shot(lane, 1'000'001, 0), ShotVerdict::accepted);
  bench.frame(lane, 0);  // the same connection, far back
  EXPECT_EQ(bench.publish(), 0U);
  EXPECT_EQ(dropped(bench.counters(), DropReason::incomplete), 1U);
  bench.assembler->close_lane(lane);
  lane = bench.lane();
  bench.frame(lane, 0);  // a new connection, and not forward
  EXPECT_EQ(bench.publish(), 0U);
  bench.frame(lane, 5'000'000'000'000);  // far ahead
  EXPECT_EQ(bench.publish(), 5'000'000'000'000U);
  bench.assembler->close_lane(lane);
  lane = bench.lane();
  EXPECT_EQ(bench.counters().sequence_gaps, 0U);
  bench.frame(lane, 5'000'000'000'003);  // goes on after a break in the connection: two are lost
  EXPECT_EQ(bench.publish(), 5'000'000'000'003U);
  EXPECT_EQ(bench.counters().sequence_gaps, 2U);
  EXPECT_EQ(bench.counters().frames_received, 6U);
}

TEST(FrameAssembler, LanesFollowARestartOneByOne) {
  Bench bench;
  const LaneId a = bench.lane(), b = bench.lane();
  for (std::uint64_t sequence = 1000; sequence < 1003; ++sequence) {
    bench.shot(a, sequence, 0);
    bench.shot(a, sequence, 1);
    if (sequence == 1002) break;
    bench.shot(b, sequence, 2);
    bench.shot(b, sequence, 3);
    EXPECT_EQ(bench.publish(), sequence);
  }
  EXPECT_EQ(bench.shot(a, 0, 0), ShotVerdict::accepted);  // the replay begins anew; 1002 is lost
  EXPECT_EQ(dropped(bench.counters(), DropReason::incomplete), 1U);
  EXPECT_EQ(bench.shot(b, 1002, 2), ShotVerdict::discarded);  // the rest of the old numbering
  EXPECT_EQ(bench.counters().shots_stale, 1U);
  EXPECT_EQ(bench.shot(a, 0, 1), ShotVerdict::accepted);
  EXPECT_EQ(bench.shot(b, 0, 2), ShotVerdict::accepted);
  EXPECT_EQ(bench.shot(b, 0, 3), ShotVerdict::accepted);
  EXPECT_EQ(bench.publish(), 0U);
  EXPECT_EQ(bench.counters().sequence_gaps, 0U);
}

TEST(FrameAssembler, ALaneFarBehindIsStaleNotARestart) {
  Bench bench(DropPolicy::drop_newest, 2);
  const LaneId a = bench.lane(), b = bench.lane();
  for (std::uint32_t tx = 0; tx < 3; ++tx) EXPECT_EQ(bench.shot(a, 0, tx), ShotVerdict::accepted);
  EXPECT_EQ(bench.shot(b, 0, 3), ShotVerdict::accepted);  // queued; nobody takes it
  for (std::uint32_t tx = 0; tx < 3; ++tx) EXPECT_EQ(bench.shot(a, 1, tx), ShotVerdict::accepted);
  for (std::uint64_t sequence = 2; sequence <= 1000; ++sequence) EXPECT_EQ(bench.shot(a, sequence, 0), ShotVerdict::discarded);
  EXPECT_EQ(bench.shot(b, 1, 3), ShotVerdict::accepted);  // still open, however far behind
  EXPECT_EQ(bench.shot(b, 2, 3), ShotVerdict::discarded);
  EXPECT_EQ(bench.shot(a, 1000, 1), ShotVerdict::discarded);
  EXPECT_EQ(bench.counters().frames_received, 1001U);
  EXPECT_EQ(bench.counters().sequence_gaps, 0U);
  EXPECT_EQ(bench.publish(), 0U);
  EXPECT_EQ(bench.publish(), 1U);
}

TEST(FrameAssembler, ClosedItDiscardsAndWakesButKeepsPlacesOfWriters) {
  Bench bench(DropPolicy::block_sender, 2);
  Bell bell;
  const LaneId a = bench.lane(), b = bench.assembler->open_lane(bell.wake());
  bench.frame(a, 0);
  const ShotPlace writing = bench.begin(a, 1, 0);
  EXPECT_EQ(bench.begin(b, 2, 0).verdict, ShotVerdict::wait);
  bench.assembler->close(DropReason::stopped);
  EXPECT_EQ(bell.rings(), 1);
  EXPECT_EQ(dropped(bench.counters(), DropReason::stopped), 1U);
  EXPECT_EQ(bench.ledger->state(1), SlotState::draining);
  EXPECT_EQ(bench.begin(b, 2, 0).verdict, ShotVerdict::discarded);
  fill(writing.place, 1, 0);
  bench.assembler->finish_shot(a, writing.ticket);
  EXPECT_EQ(bench.ledger->state(1), SlotState::free);
  EXPECT_EQ(bench.publish(), 0U);
  EXPECT_THROW(bench.lane(), InputError);
}

TEST(FrameAssembler, OpensEightLanesAndNoMore) {
  Bench bench;
  std::vector<LaneId> lanes;
  for (std::size_t i = 0; i < FrameAssembler::lane_limit; ++i) lanes.push_back(bench.lane());
  EXPECT_EQ(input_error([&] { bench.lane(); }),
            "acquisition stream: found connection 9; expected at most 8 connections of one sender");
  bench.assembler->close_lane(lanes[3]);
  EXPECT_NE(bench.lane(), lanes[3]);
}

TEST(FrameAssembler, AWakeUpMayCloseItsOwnLaneAndNoneComesAfterClosing) {
  Bench bench(DropPolicy::block_sender, 1);
  LaneId lane = 0;
  int calls = 0;
  lane = bench.assembler->open_lane([&] {
    ++calls;
    bench.assembler->close_lane(lane);
  });
  bench.frame(lane, 0);
  EXPECT_EQ(bench.begin(lane, 1, 0).verdict, ShotVerdict::wait);
  EXPECT_EQ(bench.publish(), 0U);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(bench.assembler->open_lanes(), 0U);

  Bell bell;
  lane = bench.assembler->open_lane(bell.wake());
  bench.frame(lane, 1);
  EXPECT_EQ(bench.begin(lane, 2, 0).verdict, ShotVerdict::wait);
  bench.assembler->close_lane(lane);
  EXPECT_EQ(bench.publish(), 1U);
  EXPECT_EQ(bell.rings(), 0);
}

}  // namespace
}  // namespace echoform::test
