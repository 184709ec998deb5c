#include "pipeline/pipeline.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "tests/pipeline/house.hpp"

namespace echoform::test {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Pipeline, ImagesEveryFrameInOrder) {
  House house;
  EXPECT_EQ(house.pipeline.backend(), "");
  const auto intake = house.open();
  EXPECT_EQ(house.pipeline.backend(), "fake");
  Bell bell;
  const LaneId lane = intake->open_lane(bell.wake());
  constexpr std::uint64_t frames = 500;
  for (std::uint64_t sequence = 0; sequence < frames; ++sequence) {
    for (std::uint32_t tx = 0; tx < 4; ++tx) {
      while (send_shot(*intake, lane, sequence, tx) == ShotVerdict::wait) ASSERT_TRUE(bell.wait());
    }
  }
  ASSERT_TRUE(house.sink->wait_published(frames));
  house.pipeline.stop();
  for (std::uint64_t i = 0; i < frames; ++i) EXPECT_EQ(house.sink->sequences[i], i);
  EXPECT_EQ(house.sink->bad_counters, 0);
  EXPECT_EQ(house.sink->bad_images, 0);
  EXPECT_EQ(house.sink->bad_setups, 0);
  EXPECT_EQ(house.control->wrong, 0U);
  const CounterSnapshot counters = house.counters();
  EXPECT_EQ(counters.frames_published, frames);
  EXPECT_EQ(counters.dropped(), 0U);
  EXPECT_EQ(counters.clipped_samples, frames);
  EXPECT_EQ(counters.invalid_samples, 2 * frames);
  const MetricsSnapshot metrics = house.pipeline.close_window();
  ASSERT_EQ(metrics.distributions.size(), 4U);
  EXPECT_EQ(metrics.distributions[0].name, "frame_latency");
  EXPECT_EQ(metrics.distributions[0].count, frames);
  EXPECT_EQ(metrics.distributions[2].count, frames - 1);
  EXPECT_EQ(metrics.distributions[3].name, "stage_fake");
  EXPECT_EQ(metrics.distributions[3].maximum, std::chrono::microseconds(5));
  EXPECT_GT(metrics.output_rate, 0.0);
}

TEST(Pipeline, HoldsSeveralFramesInFlight) {
  House house;
  house.control->by_hand = true;
  const auto intake = house.open();
  const LaneId lane = intake->open_lane({});
  for (std::uint64_t sequence = 0; sequence < 3; ++sequence) send_frame(*intake, lane, sequence);
  EXPECT_EQ(send_shot(*intake, lane, 3, 0), ShotVerdict::accepted);
  ASSERT_TRUE(house.control->wait_held(3));
  EXPECT_EQ(house.counters().frames_in_flight, 4U);
  house.control->finish_next();
  ASSERT_TRUE(house.sink->wait_published(1));
  for (std::uint32_t tx = 1; tx < 4; ++tx) EXPECT_EQ(send_shot(*intake, lane, 3, tx), ShotVerdict::accepted);
  for (int i = 0; i < 3; ++i) house.control->finish_next();
  ASSERT_TRUE(house.sink->wait_published(4));
  EXPECT_THAT(house.sink->published(), ElementsAre(0, 1, 2, 3));
}

TEST(Pipeline, AFrameThatFailsIsCountedAndItsSlotComesBack) {
  House house(with(DropPolicy::block_sender, 1));
  house.control->by_hand = true;
  const auto intake = house.open();
  Bell bell;
  const LaneId lane = intake->open_lane(bell.wake());
  send_frame(*intake, lane, 0);
  EXPECT_EQ(send_shot(*intake, lane, 1, 0), ShotVerdict::wait);
  house.control->finish_next(false);
  ASSERT_TRUE(bell.wait());
  send_frame(*intake, lane, 1);
  house.control->finish_next();
  ASSERT_TRUE(house.sink->wait_published(1));
  EXPECT_THAT(house.sink->published(), ElementsAre(1));
  EXPECT_EQ(dropped(house.counters(), DropReason::failed), 1U);
}

TEST(Pipeline, OverloadDropsTheNewestWhenToldTo) {
  House house(with(DropPolicy::drop_newest, 2));
  house.control->by_hand = true;
  const auto intake = house.open();
  const LaneId lane = intake->open_lane({});
  for (std::uint64_t sequence = 0; sequence < 10; ++sequence) send_frame(*intake, lane, sequence);
  EXPECT_EQ(dropped(house.counters(), DropReason::ring_full), 8U);
  house.control->finish_next();
  house.control->finish_next();
  ASSERT_TRUE(house.sink->wait_published(2));
  EXPECT_THAT(house.sink->published(), ElementsAre(0, 1));
}

TEST(Pipeline, OverloadDropsTheOldestWhenToldTo) {
  House house(with(DropPolicy::drop_oldest, 3));
  house.control->by_hand = true;
  const auto intake = house.open();
  const LaneId lane = intake->open_lane({});
  // This engine takes frames as fast as they come, so that nothing is queued once all slots are with it.
  for (std::uint64_t sequence = 0; sequence < 3; ++sequence) {
    send_frame(*intake, lane, sequence);
    ASSERT_TRUE(house.control->wait_held(sequence + 1));
  }
  send_frame(*intake, lane, 3);
  EXPECT_EQ(dropped(house.counters(), DropReason::ring_full), 1U);
  for (int i = 0; i < 3; ++i) house.control->finish_next();
  ASSERT_TRUE(house.sink->wait_published(3));
  EXPECT_THAT(house.sink->published(), ElementsAre(0, 1, 2));
}

TEST(Pipeline, FramesThatWaitForABusyEngineGiveWayToNewerOnes) {
  House house(with(DropPolicy::drop_oldest, 3));
  house.control->busy = true;
  const auto intake = house.open();
  const LaneId lane = intake->open_lane({});
  send_frame(*intake, lane, 0);
  ASSERT_TRUE(house.control->wait_entered(1));
  for (std::uint64_t sequence = 1; sequence < 10; ++sequence) send_frame(*intake, lane, sequence);
  EXPECT_EQ(dropped(house.counters(), DropReason::superseded), 7U);
  EXPECT_EQ(dropped(house.counters(), DropReason::ring_full), 0U);
  house.control->let_go(3);
  ASSERT_TRUE(house.sink->wait_published(3));
  EXPECT_THAT(house.sink->published(), ElementsAre(0, 8, 9));
}

TEST(Pipeline, AnEngineGetsNoMoreFramesThanKeepItBusyAndTheRestGiveWay) {
  House house(with(DropPolicy::drop_oldest, 4));
  house.control->by_hand = true;
  house.control->frames_at_once = 2;
  const auto intake = house.open();
  const LaneId lane = intake->open_lane({});
  for (std::uint64_t sequence = 0; sequence < 2; ++sequence) {
    send_frame(*intake, lane, sequence);
    ASSERT_TRUE(house.control->wait_held(sequence + 1));
  }
  for (std::uint64_t sequence = 2; sequence < 10; ++sequence) send_frame(*intake, lane, sequence);
  EXPECT_EQ(dropped(house.counters(), DropReason::superseded), 6U);
  EXPECT_EQ(dropped(house.counters(), DropReason::ring_full), 0U);
  for (std::uint64_t frame = 0; frame < 4; ++frame) {
    ASSERT_TRUE(house.control->wait_held(1));
    house.control->finish_next();
    ASSERT_TRUE(house.sink->wait_published(frame + 1));
  }
  EXPECT_THAT(house.sink->published(), ElementsAre(0, 1, 8, 9));
}

TEST(Pipeline, ConnectionsOfASessionShareOneStreamAndOthersAreTurnedAway) {
  House house;
  const auto first = house.open(1);
  const LaneId lane = first->open_lane({});
  EXPECT_EQ(house.open(1), first);
  EXPECT_EQ(message_of([&] { static_cast<void>(house.open(2)); }), "acquisition stream: another sender is active");
  EXPECT_EQ(
      message_of([&] { static_cast<void>(house.open(1, small_acquisition(5))); }),
      "acquisition: found one that differs from that of the session's first connection; expected the same on all connections");
  send_frame(*first, lane, 0);
  ASSERT_TRUE(house.sink->wait_published(1));
  first->close_lane(lane);

  // The next sender with the same acquisition takes engine and slots over, and numbers as it likes.
  const auto second = house.open(2);
  EXPECT_NE(second, first);
  EXPECT_EQ(house.control->engines_made, 1);
  EXPECT_THAT(message_of([&] { static_cast<void>(first->open_lane({})); }), HasSubstr("taken over by another sender"));
  send_frame(*second, second->open_lane({}), 0);
  ASSERT_TRUE(house.sink->wait_published(2));
  EXPECT_EQ(house.sink->setups.size(), 2U);
  EXPECT_EQ(house.counters().sequence_gaps, 0U);
}

TEST(Pipeline, AnotherAcquisitionMakesEngineAndSlotsAnewAndTotalsStay) {
  House house;
  auto intake = house.open(1);
  LaneId lane = intake->open_lane({});
  send_frame(*intake, lane, 0);
  send_shot(*intake, lane, 1, 0);
  intake->close_lane(lane);
  const std::size_t before = house.pipeline.bytes();
  intake = house.open(2, small_acquisition(6, 32, MatrixKind::half));
  EXPECT_EQ(house.control->engines_made, 2);
  EXPECT_EQ(house.control->engines_alive, 1);
  EXPECT_EQ(house.sink->published().size(), 1U);  // drained before
  // Slots of 21 A-scans x 32 samples x 2 bytes and an image of one float each, and 1000 bytes of the engine.
  EXPECT_EQ(house.pipeline.bytes(), 4 * (21 * 64 + 4) + 1000U);
  EXPECT_NE(house.pipeline.bytes(), before);
  lane = intake->open_lane({});
  send_frame(*intake, lane, 0);
  ASSERT_TRUE(house.sink->wait_published(2));
  house.pipeline.stop();
  EXPECT_EQ(house.control->wrong, 0U);
  const CounterSnapshot counters = house.counters();
  EXPECT_EQ(counters.frames_received, 3U);
  EXPECT_EQ(dropped(counters, DropReason::incomplete), 1U);
  EXPECT_EQ(house.sink->bad_setups, 0);
}

TEST(Pipeline, ARefusedHelloChangesNothing) {
  House house;
  const auto intake = house.open(1);
  const LaneId lane = intake->open_lane({});
  send_frame(*intake, lane, 0);
  intake->close_lane(lane);
  Acquisition wrong = small_acquisition();
  wrong.sample_rate = Hertz(-1.0);
  EXPECT_THAT(message_of([&] { static_cast<void>(house.open(2, wrong)); }), HasSubstr("acquisition sample rate: found -1 Hz"));
  EXPECT_THAT(message_of([&] {
                static_cast<void>(house.open(2, small_acquisition(2, 8, MatrixKind::full, {0, 1})));
              }),
              HasSubstr("dead elements: found all 2 of the probe"));
  EXPECT_EQ(house.open(1), intake);
  send_frame(*intake, intake->open_lane({}), 1);
  ASSERT_TRUE(house.sink->wait_published(2));
  EXPECT_EQ(house.control->engines_made, 1);
}

TEST(Pipeline, MemoryBeyondTheLimitIsRefusedWithTheAmount) {
  PipelineOptions options;
  options.memory_limit = 100'000;
  House house(options);
  // 4 slots x 16 x 16 A-scans x 64 samples x 2 bytes
  EXPECT_EQ(message_of([&] { static_cast<void>(house.open(1, small_acquisition(16, 64))); }),
            "memory: found 0.1 MB needed for 4 slots of 0.0 MB; expected at most 0.1 MB");
  EXPECT_EQ(house.control->engines_made, 0);
  house.control->engine_bytes = 200'000;
  EXPECT_THAT(message_of([&] { static_cast<void>(house.open()); }), HasSubstr("and the engine; expected at most 0.1 MB"));
  EXPECT_EQ(house.control->engines_alive, 0);
  house.control->engine_bytes = 1000;
  house.control->fail_equip = true;
  EXPECT_EQ(message_of([&] { static_cast<void>(house.open()); }), "fake engine: no memory");
  house.control->fail_equip = false;
  const auto intake = house.open();
  send_frame(*intake, intake->open_lane({}), 0);
  EXPECT_TRUE(house.sink->wait_published(1));
}

TEST(Pipeline, ChecksItsOptions) {
  SystemClock clock;
  for (const std::size_t slots : {0, 65}) {
    EXPECT_THAT(message_of([&] { Pipeline p(with(DropPolicy::block_sender, slots), bare_setup, {}, clock, {}); }),
                HasSubstr("slots: found "));
  }
  PipelineOptions options;
  options.incomplete_timeout = milliseconds(0);
  EXPECT_EQ(message_of([&] { Pipeline p(options, bare_setup, {}, clock, {}); }),
            "incomplete_timeout: found 0 ns; expected a time above 0");
}

TEST(Pipeline, IncompleteFramesExpireByThemselves) {
  ManualClock clock;
  auto control = std::make_shared<EngineControl>();
  PipelineOptions options = with(DropPolicy::block_sender, 1);
  Pipeline pipeline(options, bare_setup, {}, clock, fake_engines(control));
  const auto intake = pipeline.open_stream(1, small_acquisition());
  Bell bell;
  const LaneId a = intake->open_lane(bell.wake());
  static_cast<void>(intake->open_lane({}));  // silent, so that frames cannot be passed
  EXPECT_EQ(send_shot(*intake, a, 0, 0), ShotVerdict::accepted);
  EXPECT_EQ(send_shot(*intake, a, 1, 0), ShotVerdict::wait);
  clock.advance(options.incomplete_timeout);
  ASSERT_TRUE(bell.wait());  // the pipeline's own housekeeping saw it
  EXPECT_EQ(dropped(pipeline.counters(), DropReason::incomplete), 1U);
  EXPECT_EQ(send_shot(*intake, a, 1, 0), ShotVerdict::accepted);
}

TEST(Pipeline, StopFinishesWhatIsQueued) {
  House house;
  const auto intake = house.open();
  const LaneId lane = intake->open_lane({});
  send_frame(*intake, lane, 0);
  send_frame(*intake, lane, 1);
  EXPECT_EQ(send_shot(*intake, lane, 2, 0), ShotVerdict::accepted);
  house.pipeline.stop();
  EXPECT_THAT(house.sink->published(), ElementsAre(0, 1));
  EXPECT_EQ(dropped(house.counters(), DropReason::stopped), 1U);
  EXPECT_EQ(house.counters().frames_in_flight, 0U);
  EXPECT_EQ(house.control->engines_alive, 0);
  EXPECT_EQ(send_shot(*intake, lane, 3, 0), ShotVerdict::discarded);
  intake->close_lane(lane);
  EXPECT_EQ(message_of([&] { static_cast<void>(house.open()); }), "acquisition stream: the server is stopping");
  house.pipeline.stop();
}

TEST(Pipeline, StopGivesUpOnAStuckEngineAndAccountsForItsFrames) {
  PipelineOptions options = with(DropPolicy::block_sender, 2);
  options.drain_limit = milliseconds(0);
  House house(options);
  house.control->by_hand = true;
  const auto intake = house.open();
  const LaneId lane = intake->open_lane({});
  send_frame(*intake, lane, 0);
  send_frame(*intake, lane, 1);
  house.pipeline.stop();
  EXPECT_EQ(dropped(house.counters(), DropReason::stopped), 2U);
  EXPECT_EQ(house.counters().frames_in_flight, 0U);
  EXPECT_EQ(house.counters().slots_free, 2U);
}

TEST(Pipeline, StopWakesABlockedSenderAndSparesOneInMidPayload) {
  House house(with(DropPolicy::block_sender, 1));
  const auto intake = house.open();
  Bell bell;
  const LaneId a = intake->open_lane({}), b = intake->open_lane(bell.wake());
  const ShotPlace writing = intake->begin_shot(a, {0, 0, {}}, shot_bytes(small_acquisition(), 0));
  ASSERT_EQ(writing.verdict, ShotVerdict::accepted);
  Bell waits;
  std::jthread sender([&] {
    EXPECT_EQ(send_shot(*intake, b, 1, 0), ShotVerdict::wait);
    waits.ring();
    EXPECT_TRUE(bell.wait());
    EXPECT_EQ(send_shot(*intake, b, 1, 0), ShotVerdict::discarded);
  });
  ASSERT_TRUE(waits.wait());
  house.pipeline.stop();
  fill(writing.place, 0, 0);  // still its memory
  intake->finish_shot(a, writing.ticket);
  EXPECT_EQ(house.counters().slots_free, 1U);
}

TEST(Pipeline, AnIntakeMayOutliveItsPipeline) {
  auto house = std::make_unique<House>();
  const auto intake = house->open();
  const LaneId lane = intake->open_lane({});
  const ShotPlace writing = intake->begin_shot(lane, {0, 0, {}}, shot_bytes(small_acquisition(), 0));
  house.reset();
  fill(writing.place, 0, 0);
  intake->abandon_shot(lane, writing.ticket);
  EXPECT_EQ(send_shot(*intake, lane, 1, 0), ShotVerdict::discarded);
  intake->close_lane(lane);
}

TEST(Pipeline, ReconfigureChangesThePlanBetweenFramesAndLosesNone) {
  House house;
  EXPECT_FALSE(house.pipeline.reconfigure());
  const auto intake = house.open();
  const LaneId lane = intake->open_lane({});
  const auto before = house.pipeline.setup();
  send_frame(*intake, lane, 0);
  const ShotPlace writing = intake->begin_shot(lane, {1, 0, {}}, shot_bytes(small_acquisition(), 0));
  ASSERT_TRUE(house.sink->wait_published(1));
  EXPECT_TRUE(house.pipeline.reconfigure());
  EXPECT_NE(house.pipeline.setup(), before);
  EXPECT_EQ(house.control->engines_alive, 1);
  fill(writing.place, 1, 0);  // the slot being filled stays where it was
  intake->finish_shot(lane, writing.ticket);
  for (std::uint32_t tx = 1; tx < 4; ++tx) EXPECT_EQ(send_shot(*intake, lane, 1, tx), ShotVerdict::accepted);
  ASSERT_TRUE(house.sink->wait_published(2));
  house.control->fail_equip = true;
  EXPECT_THROW(house.pipeline.reconfigure(), RuntimeFault);
  EXPECT_EQ(house.control->engines_alive, 1);
  send_frame(*intake, lane, 2);
  ASSERT_TRUE(house.sink->wait_published(3));
  house.pipeline.stop();
  EXPECT_EQ(house.sink->bad_setups, 0);
  EXPECT_EQ(house.control->wrong, 0U);
  EXPECT_EQ(house.counters().dropped(), 0U);
}

}  // namespace
}  // namespace echoform::test
