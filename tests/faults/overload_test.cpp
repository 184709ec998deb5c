// More frames than the engine takes, under each drop policy. The engine stands at a gate while the bursts come.
#include <numeric>

#include "tests/faults/server_bench.hpp"

namespace echoform::faults {
namespace {

using namespace testing_support;

class Overload : public OnBackends {
 protected:
  static Configuration with(DropPolicy policy) {
    Configuration configuration = base_configuration(GetParam());
    configuration.input.slots = 4;
    configuration.input.drop_policy = policy;
    return configuration;
  }
  /// With the engine held: the first frame gets as far as the gate, then the rest of the burst comes.
  static void send_burst(ServerBench& bench, RawPeer& peer, std::uint64_t first, std::size_t count) {
    bench.gate.close();
    bench.send_and_wait(peer, frame_message(base_acquisition(), first));
    ASSERT_TRUE(bench.gate.someone_waits());
    Bytes all;
    for (std::uint64_t sequence = first + 1; sequence < first + count; ++sequence) {
      all = std::move(all) + frame_message(base_acquisition(), sequence);
    }
    peer.send(all);
  }
};
ECHOFORM_ON_BACKENDS(Overload);

TEST_P(Overload, BlockSender) {
  ServerBench bench(with(DropPolicy::block_sender));
  const Acquisition acquisition = base_acquisition();
  const auto peer = bench.accepted_peer(acquisition);
  std::vector<std::uint64_t> sequences;
  for (const std::uint64_t first : {1, 101}) {
    const Books before = bench.books();
    send_burst(bench, *peer, first, 12);
    ASSERT_TRUE(bench.reaches([&] { return bench.books().frames.frames_in_flight == 4; }));
    const Books held = bench.books();
    EXPECT_EQ(held.frames.frames_received - before.frames.frames_received, 4U);
    EXPECT_EQ(held.frames.slots_free, 0U);
    EXPECT_EQ(held.frames.dropped(), 0U);
    bench.gate.open();
    bench.expect_change(before, {.received = 12, .published = 12, .gaps = first == 1 ? 0U : 88U});
    for (std::uint64_t sequence = first; sequence < first + 12; ++sequence) sequences.push_back(sequence);
  }
  bench.expect_images(acquisition, sequences);
  peer->close();
  bench.expect_good_sender();
}

TEST_P(Overload, DropOldest) {
  ServerBench bench(with(DropPolicy::drop_oldest));
  const Acquisition acquisition = base_acquisition();
  const auto peer = bench.accepted_peer(acquisition);
  for (const std::uint64_t first : {1, 101}) {
    const Books before = bench.books();
    send_burst(bench, *peer, first, 12);
    ASSERT_TRUE(bench.reaches(
        [&] { return bench.books().source.shots_received - before.source.shots_received == 12 * acquisition.elements(); }));
    const Books held = bench.books();
    EXPECT_EQ(held.frames.frames_in_flight, 4U);
    bench.gate.open();
    // One at the gate and three that wait: the three newest.
    bench.expect_change(
        before, {.received = 12, .published = 4, .dropped = {{DropReason::superseded, 8}}, .gaps = first == 1 ? 0U : 88U});
  }
  bench.expect_images(acquisition, {1, 10, 11, 12, 101, 110, 111, 112});
  peer->close();
  bench.expect_good_sender();
}

TEST_P(Overload, DropNewest) {
  ServerBench bench(with(DropPolicy::drop_newest));
  const Acquisition acquisition = base_acquisition();
  const auto peer = bench.accepted_peer(acquisition);
  for (const std::uint64_t first : {1, 101}) {
    const Books before = bench.books();
    send_burst(bench, *peer, first, 12);
    ASSERT_TRUE(bench.reaches(
        [&] { return bench.books().source.shots_received - before.source.shots_received == 12 * acquisition.elements(); }));
    EXPECT_EQ(bench.books().frames.frames_in_flight, 4U);
    EXPECT_EQ(bench.books().frames.shots_stale, before.frames.shots_stale);
    bench.gate.open();
    bench.expect_change(before,
                        {.received = 12, .published = 4, .dropped = {{DropReason::ring_full, 8}}, .gaps = first == 1 ? 0U : 88U});
  }
  bench.expect_images(acquisition, {1, 2, 3, 4, 101, 102, 103, 104});
  peer->close();
  bench.expect_good_sender();
}

// An engine that cannot image some frames.
TEST_P(Overload, FailedFrames) {
  ServerBench bench(with(DropPolicy::block_sender));
  const Acquisition acquisition = base_acquisition();
  const Books before = bench.books();
  bench.failing.set([](const FrameSlot& slot) { return slot.sequence % 3 == 0; });
  GoodSender sender(bench, acquisition);
  sender.send(1, 7);
  sender.finish();
  bench.expect_change(before, {.received = 7, .published = 5, .dropped = {{DropReason::failed, 2}}, .accepted = 1});
  bench.expect_images(acquisition, {1, 2, 4, 5, 7});
  bench.failing.set({});
  bench.expect_good_sender();
}

// The server stops while frames are everywhere: what the engine does not give back in time is counted as stopped.
TEST_P(Overload, StopWhileHeld) {
  ServerBench bench(with(DropPolicy::block_sender));
  const Acquisition acquisition = base_acquisition();
  const auto peer = bench.accepted_peer(acquisition);
  const Books before = bench.books();
  send_burst(bench, *peer, 1, 4);
  bench.send_and_wait(*peer, {});
  ASSERT_TRUE(bench.reaches([&] { return bench.books().frames.frames_in_flight == 4; }));
  bench.gate.open();
  bench.server->stop();
  const Books after = bench.books();
  EXPECT_EQ(after.frames.frames_in_flight, 0U);
  EXPECT_EQ(after.frames.frames_received - before.frames.frames_received, 4U);
  EXPECT_EQ(after.frames.frames_published + after.frames.dropped(), 4U);
  EXPECT_EQ(bench.album->size(), after.frames.frames_published);
}

}  // namespace
}  // namespace echoform::faults
