// Shots twice, never, or in another order, and numbers of frames that jump, wrap or begin anew.
#include "tests/faults/server_bench.hpp"

namespace echoform::faults {
namespace {

using namespace testing_support;

class Shots : public OnBackends {};
ECHOFORM_ON_BACKENDS(Shots);

TEST_P(Shots, Duplicate) {
  ServerBench bench(GetParam());
  const Acquisition acquisition = base_acquisition();
  const Books before = bench.books();
  const auto peer = bench.accepted_peer(acquisition);
  // The second copy of a shot holds something else, which must not show.
  const Bytes other = frame_of(acquisition, 99);
  bench.send_and_wait(*peer, shot_of(acquisition, 1, 0) + shot_of(acquisition, other, 1, 0) + shot_of(acquisition, 1, 1) +
                                 shot_of(acquisition, 1, 2) + shot_of(acquisition, other, 1, 1) + shot_of(acquisition, 1, 3));
  // And one of a frame that is finished.
  bench.send_and_wait(*peer, shot_of(acquisition, other, 1, 3) + frame_message(acquisition, 2) + end_message());
  EXPECT_TRUE(peer->closed());
  bench.expect_change(before, {.received = 2, .published = 2, .duplicates = 2, .stale = 1, .accepted = 1});
  EXPECT_EQ(bench.books().source.shots_discarded - before.source.shots_discarded, 3U);
  bench.expect_images(acquisition, {1, 2});
  bench.expect_good_sender();
}

TEST_P(Shots, Missing) {
  ServerBench bench(GetParam());
  const Acquisition acquisition = base_acquisition();
  const Books before = bench.books();
  const auto peer = bench.accepted_peer(acquisition);
  bench.send_and_wait(*peer, frame_message(acquisition, 1));
  bench.send_and_wait(*peer, shot_of(acquisition, 2, 0) + shot_of(acquisition, 2, 1) + shot_of(acquisition, 2, 3));
  // The last shot comes when the connection has gone on.
  bench.send_and_wait(*peer,
                      frame_message(acquisition, 3) + shot_of(acquisition, 2, 2) + frame_message(acquisition, 4) + end_message());
  EXPECT_TRUE(peer->closed());
  bench.expect_change(before,
                      {.received = 4, .published = 3, .dropped = {{DropReason::incomplete, 1}}, .stale = 1, .accepted = 1});
  bench.expect_images(acquisition, {1, 3, 4});
  bench.expect_good_sender();
}

TEST_P(Shots, Reordered) {
  ServerBench bench(GetParam());
  const Acquisition acquisition = base_acquisition();
  const Books before = bench.books();
  const auto peer = bench.accepted_peer(acquisition);
  Bytes all;
  for (std::uint64_t sequence = 1; sequence <= 3; ++sequence) {
    for (const std::uint32_t transmit : {3U, 1U, 0U, 2U}) all = std::move(all) + shot_of(acquisition, sequence, transmit);
  }
  peer->send(all + end_message());
  EXPECT_TRUE(peer->closed());
  bench.expect_change(before, {.received = 3, .published = 3, .accepted = 1});
  bench.expect_images(acquisition, {1, 2, 3});
  bench.expect_good_sender();
}

class Sequences : public OnBackends {};
ECHOFORM_ON_BACKENDS(Sequences);

void send_frames(ServerBench& bench, const Acquisition& acquisition, const std::vector<std::uint64_t>& sequences,
                 std::uint64_t session = 7) {
  const auto peer = bench.accepted_peer(acquisition, session);
  Bytes all;
  for (const std::uint64_t sequence : sequences) all = std::move(all) + frame_message(acquisition, sequence);
  peer->send(all + end_message());
  EXPECT_TRUE(peer->closed());
}

TEST_P(Sequences, Gaps) {
  ServerBench bench(GetParam());
  const Acquisition acquisition = base_acquisition();
  const Books before = bench.books();
  const std::vector<std::uint64_t> sequences{1, 2, 5, 9, 10};  // 3, 4, 6, 7 and 8 never come
  send_frames(bench, acquisition, sequences);
  bench.expect_change(before, {.received = 5, .published = 5, .gaps = 5, .accepted = 1});
  bench.expect_images(acquisition, sequences);
  bench.expect_good_sender();
}

TEST_P(Sequences, Wrap) {
  ServerBench bench(GetParam());
  const Acquisition acquisition = base_acquisition();
  const Books before = bench.books();
  const std::vector<std::uint64_t> sequences{UINT64_MAX - 1, UINT64_MAX, 0, 1, 2};
  send_frames(bench, acquisition, sequences);
  bench.expect_change(before, {.received = 5, .published = 5, .accepted = 1});
  bench.expect_images(acquisition, sequences);
  bench.expect_good_sender();
}

TEST_P(Sequences, SenderRestart) {
  ServerBench bench(GetParam());
  const Acquisition acquisition = base_acquisition();
  const Books before = bench.books();
  send_frames(bench, acquisition, {1000, 1001, 1002}, 7);
  send_frames(bench, acquisition, {1, 2, 3}, 8);  // another run of the same instrument
  send_frames(bench, acquisition, {3, 4}, 9);     // one that does not begin below
  bench.expect_change(before, {.received = 8, .published = 8, .accepted = 3});
  bench.expect_images(acquisition, {1000, 1001, 1002, 1, 2, 3, 3, 4});
  bench.expect_good_sender();
}

TEST_P(Sequences, RestartOnOneConnection) {
  ServerBench bench(GetParam());
  const Acquisition acquisition = base_acquisition();
  const Books before = bench.books();
  const std::vector<std::uint64_t> sequences{1000, 1001, 1, 2, 70000};  // down by 256 or more, up by more than 65,536
  send_frames(bench, acquisition, sequences);
  bench.expect_change(before, {.received = 5, .published = 5, .accepted = 1});
  bench.expect_images(acquisition, sequences);
  bench.expect_good_sender();
}

}  // namespace
}  // namespace echoform::faults
