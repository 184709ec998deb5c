// Frames in steady state take nothing from the heap.
#include "pipeline/pipeline.hpp"
#include "tests/pipeline/support.hpp"
#include "tests/support/allocation_counter.hpp"

namespace echoform::test {
namespace {

TEST(Allocations, AreCounted) {
  if (!counts_allocations()) GTEST_SKIP() << "built with a sanitizer that replaces the allocator";
  const std::uint64_t before = allocations();
  const auto number = std::make_unique<volatile int>(1);
  std::vector<int> numbers(1000);
  numbers.resize(2000 + static_cast<std::size_t>(*number));
  EXPECT_EQ(allocations() - before, 3U);
}

// Every policy, two lanes, faults among the shots: none from a frame's first shot to its publication, on any thread.
TEST(Allocations, AreNoneInSteadyState) {
  if (!counts_allocations()) GTEST_SKIP() << "built with a sanitizer that replaces the allocator";
  for (const DropPolicy policy : {DropPolicy::block_sender, DropPolicy::drop_oldest, DropPolicy::drop_newest}) {
    SystemClock clock;
    auto control = std::make_shared<EngineControl>();
    auto sink = std::make_shared<NotingSink>();
    PipelineOptions options;
    options.policy = policy;
    Pipeline pipeline(options, bare_setup, {sink}, clock, fake_engines(control));
    const Acquisition acquisition = small_acquisition(8, 64);
    const auto intake = pipeline.open_stream(1, acquisition);
    std::array<Bell, 2> bells;
    const std::array<LaneId, 2> lanes = {intake->open_lane(bells[0].wake()), intake->open_lane(bells[1].wake())};
    const auto send = [&](std::uint64_t sequence) {
      for (std::uint32_t tx = 0; tx < 8; ++tx) {
        if (sequence % 50 == 7 && tx == 3) continue;  // an incomplete frame
        const std::size_t k = tx % 2;
        while (send_shot(*intake, lanes[k], sequence, tx) == ShotVerdict::wait) {
          if (!bells[k].wait()) return false;
        }
        if (sequence % 50 == 9 && tx == 3) static_cast<void>(send_shot(*intake, lanes[k], sequence, tx));  // a duplicate
      }
      return true;
    };
    std::uint64_t sequence = 0;
    while (sequence < 200) ASSERT_TRUE(send(sequence++));  // warm
    bool sent = true;
    std::size_t awaited = sink->published().size();
    const std::uint64_t received_before = pipeline.counters().frames_received;
    const std::uint64_t allocations_before = allocations();
    while (sequence < 2200) {
      sent = sent && send(sequence);
      // Keeps the sender from outrunning the engine by more than a few frames where nothing blocks it.
      if (sequence % 10 == 0) sent = sent && sink->wait_published(++awaited);
      sequence += sequence % 100 == 99 ? 2 : 1;  // and a gap
    }
    const std::uint64_t allocated = allocations() - allocations_before;
    const std::uint64_t received_after = pipeline.counters().frames_received;
    EXPECT_EQ(allocated, 0U) << "policy " << static_cast<int>(policy);
    EXPECT_TRUE(sent);
    EXPECT_GE(received_after - received_before, 1900U);
    pipeline.stop();
    EXPECT_TRUE(pipeline.counters().closes());
    EXPECT_GE(sink->sequences.size(), awaited);
    EXPECT_GE(awaited, 150U);
  }
}

}  // namespace
}  // namespace echoform::test
