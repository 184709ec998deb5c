// Threads, faults and fixed seeds: closure at every sample, and nothing but whole frames.
#include <algorithm>
#include <random>
#include <thread>

#include "tests/pipeline/assembler_bench.hpp"
#include "tests/pipeline/house.hpp"

namespace echoform::test {
namespace {

// Lanes on threads of their own with faults of every kind, a consumer, and a watcher that checks closure at every reading.
class FaultyLanes : public testing::TestWithParam<std::tuple<DropPolicy, int>> {};

TEST_P(FaultyLanes, CloseAtEverySampleAndDeliverOnlyWholeFrames) {
  const DropPolicy policy = std::get<0>(GetParam());
  const int lane_count = std::get<1>(GetParam());
  constexpr std::uint64_t frames = 1500;
  Bench bench(policy, 3, small_acquisition(6, 16, MatrixKind::half, {2}));
  std::atomic<bool> sending{true};
  std::atomic<std::size_t> not_closed{0}, wrong{0};
  std::uint64_t taken = 0;

  std::jthread consumer([&](const std::stop_token& stop) {
    while (const auto item = bench.edge.take(stop)) {
      FrameSlot& slot = **item;
      wrong += wrong_bytes(slot, bench.acquisition);
      bench.ledger->start_imaging(slot.index);
      ++taken;
      if (taken % 17 == 0) {
        bench.ledger->drop(slot.index, DropReason::failed);
        continue;
      }
      bench.ledger->start_publishing(slot.index);
      bench.ledger->publish(slot.index);
    }
  });
  std::jthread watcher([&] {
    while (sending) {
      if (!bench.ledger->snapshot().closes()) ++not_closed;
      bench.clock.advance(std::chrono::microseconds(2));  // now and then a frame expires
      bench.assembler->expire();
    }
  });
  {
    std::vector<Bell> bells(static_cast<std::size_t>(lane_count));
    std::vector<LaneId> ids;
    for (Bell& bell : bells) ids.push_back(bench.assembler->open_lane(bell.wake()));
    std::vector<std::jthread> lanes;
    for (int index = 0; index < lane_count; ++index) {
      lanes.emplace_back([&, index] {
        std::mt19937 random(static_cast<unsigned>(100 * lane_count + index));
        Bell& bell = bells[static_cast<std::size_t>(index)];
        LaneId lane = ids[static_cast<std::size_t>(index)];
        for (std::uint64_t sequence = 0; sequence < frames; ++sequence) {
          if (random() % 100 == 0) continue;  // a gap, on this lane
          for (std::uint32_t tx = static_cast<std::uint32_t>(index); tx < 6; tx += static_cast<std::uint32_t>(lane_count)) {
            const auto fault = random() % 200;
            if (fault == 0) continue;  // lost
            ShotPlace place = bench.begin(lane, sequence, tx);
            while (place.verdict == ShotVerdict::wait) {
              EXPECT_TRUE(bell.wait());
              place = bench.begin(lane, sequence, tx);
            }
            if (place.verdict != ShotVerdict::accepted) continue;
            if (fault == 1) {  // the connection breaks in mid-payload, and the sender comes back
              fill(place.place.first(place.place.size() / 2), sequence + 1, tx);
              bench.assembler->close_lane(lane);
              lane = bench.assembler->open_lane(bell.wake());
              continue;
            }
            fill(place.place, sequence, tx);
            bench.assembler->finish_shot(lane, place.ticket);
            if (fault == 2) send_shot(*bench.assembler, lane, sequence, tx);  // a duplicate
          }
        }
        bench.assembler->close_lane(lane);
      });
    }
  }
  sending = false;
  watcher.join();
  EXPECT_TRUE(bench.ledger->wait_until_idle(patience));
  consumer.request_stop();
  consumer.join();

  EXPECT_EQ(not_closed, 0U);
  EXPECT_EQ(wrong, 0U);
  const CounterSnapshot counters = bench.counters();
  EXPECT_EQ(counters.frames_in_flight, 0U);
  EXPECT_EQ(counters.slots_free, 3U);
  EXPECT_GT(counters.frames_published, 0U);
  EXPECT_EQ(counters.frames_published + dropped(counters, DropReason::failed), taken);
  if (policy == DropPolicy::block_sender) {
    EXPECT_EQ(dropped(counters, DropReason::ring_full) + dropped(counters, DropReason::superseded), 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, FaultyLanes,
                         testing::Combine(testing::Values(DropPolicy::block_sender, DropPolicy::drop_oldest,
                                                          DropPolicy::drop_newest),
                                          testing::Values(1, 2, 5)));

// Striped lanes with faults, reconfigurations and a watcher, under every policy.
class PipelineUnderFaults : public testing::TestWithParam<DropPolicy> {};

TEST_P(PipelineUnderFaults, ClosesAtEverySample) {
  House house(with(GetParam(), 3));
  constexpr std::uint64_t frames = 800;
  constexpr std::uint32_t lane_count = 3;
  const Acquisition acquisition = small_acquisition(6, 16);
  const auto intake = house.open(1, acquisition);
  std::atomic<bool> sending{true};
  std::atomic<std::size_t> not_closed{0};
  std::jthread watcher([&] {
    int round = 0;
    while (sending) {
      if (!house.pipeline.counters().closes()) ++not_closed;
      if (++round % 500 == 0) static_cast<void>(house.pipeline.reconfigure());
      if (round % 100 == 0) static_cast<void>(house.pipeline.close_window());
    }
  });
  {
    std::array<LaneId, lane_count> lanes{};
    std::array<Bell, lane_count> bells;
    std::vector<std::jthread> senders;
    for (std::uint32_t k = 0; k < lane_count; ++k) lanes[k] = intake->open_lane(bells[k].wake());
    for (std::uint32_t k = 0; k < lane_count; ++k) {
      senders.emplace_back([&, k] {
        std::mt19937 random(k + 1);
        for (std::uint64_t sequence = 0; sequence < frames; ++sequence) {
          for (std::uint32_t tx = k; tx < 6; tx += lane_count) {
            if (random() % 300 == 0) continue;
            while (send_shot(*intake, lanes[k], sequence, tx) == ShotVerdict::wait) ASSERT_TRUE(bells[k].wait());
          }
        }
        intake->close_lane(lanes[k]);
      });
    }
  }
  sending = false;
  watcher.join();
  house.pipeline.stop();
  EXPECT_EQ(not_closed, 0U);
  EXPECT_EQ(house.control->wrong, 0U);
  EXPECT_EQ(house.sink->bad_counters + house.sink->bad_images + house.sink->bad_setups, 0);
  const CounterSnapshot counters = house.counters();
  EXPECT_EQ(counters.frames_published, house.sink->sequences.size());
  EXPECT_EQ(counters.frames_received + counters.sequence_gaps, frames);
  EXPECT_EQ(counters.frames_in_flight, 0U);
  EXPECT_TRUE(std::is_sorted(house.sink->sequences.begin(), house.sink->sequences.end()) ||
              GetParam() != DropPolicy::block_sender);
}

INSTANTIATE_TEST_SUITE_P(Policies, PipelineUnderFaults,
                         testing::Values(DropPolicy::block_sender, DropPolicy::drop_oldest, DropPolicy::drop_newest));

}  // namespace
}  // namespace echoform::test
