// Senders that fall silent or trickle. Time stands still until the test moves it.
#include <gmock/gmock.h>

#include "tests/faults/server_bench.hpp"

namespace echoform::faults {
namespace {

using namespace testing_support;
using namespace std::chrono_literals;
using testing::HasSubstr;

class TimeOuts : public OnBackends {};
ECHOFORM_ON_BACKENDS(TimeOuts);

TEST_P(TimeOuts, NoHello) {
  BusyServer bench(GetParam());
  const Bytes hello = hello_message(bench.acquisition);
  RawPeer half(bench.port()), silent(bench.port());
  bench.send_and_wait(half, {hello.begin(), hello.begin() + 40});
  ASSERT_TRUE(bench.reaches([&] { return bench.server->source().counters().connections_open == 3; }));
  bench.clock.advance(5s);
  EXPECT_THAT(half.reject_reason(), HasSubstr("Hello: found none complete within 5000 ms"));
  EXPECT_THAT(silent.reject_reason(), HasSubstr("Hello: found none complete within 5000 ms"));
  bench.expect_change(bench.before, {.rejected = 2, .timed_out = 2});
  bench.good.send(3, 2);
  bench.good.finish();
  bench.expect_change(bench.before, {.received = 2, .published = 2, .rejected = 2, .timed_out = 2});
  bench.expect_images(bench.acquisition, {1, 2, 3, 4});
}

TEST_P(TimeOuts, TricklingHello) {
  BusyServer bench(GetParam());
  const Bytes hello = hello_message(bench.acquisition);
  RawPeer peer(bench.port());
  for (std::size_t i = 0; i < 49; ++i) {
    bench.send_and_wait(peer, {hello[i]});
    bench.clock.advance(100ms);
  }
  bench.send_and_wait(peer, {hello[49]});  // 4.9 s: in time, but for what comes now
  bench.clock.advance(100ms);
  EXPECT_THAT(peer.reject_reason(), HasSubstr("Hello: found none complete within 5000 ms"));
  bench.expect_change(bench.before, {.rejected = 1, .timed_out = 1});
  bench.good.send(3, 2);
  bench.good.finish();
  bench.expect_change(bench.before, {.received = 2, .published = 2, .rejected = 1, .timed_out = 1});
  bench.expect_images(bench.acquisition, {1, 2, 3, 4});
}

TEST_P(TimeOuts, SilenceWithinAMessage) {
  ServerBench bench(GetParam());
  const Acquisition acquisition = base_acquisition();
  const Books before = bench.books();
  const auto peer = bench.accepted_peer(acquisition);
  Bytes cut = shot_of(acquisition, 2, 0);
  const Bytes rest(cut.end() - 10, cut.end());
  cut.resize(cut.size() - 10);
  bench.send_and_wait(*peer, frame_message(acquisition, 1) + cut);
  bench.clock.advance(900ms);  // below both the frame's time-out and the connection's
  bench.send_and_wait(*peer, rest + shot_of(acquisition, 2, 1) + shot_of(acquisition, 2, 2) + shot_of(acquisition, 2, 3));
  ASSERT_TRUE(bench.published(2));
  bench.send_and_wait(*peer, cut);  // a stale one: it has no place in a frame, the time-out of the connection is the only one
  bench.clock.advance(10s);
  EXPECT_THAT(peer->reject_reason(),
              HasSubstr("connection: found no byte for 10000 ms within a message; expected the rest of it"));
  EXPECT_TRUE(peer->closed());
  bench.expect_change(before, {.received = 2, .published = 2, .stale = 1, .accepted = 1, .timed_out = 1});
  bench.expect_images(acquisition, {1, 2});
  bench.expect_good_sender();
}

// The slot of a frame that is given up is free again only when nobody writes into it any more.
TEST_P(TimeOuts, SilenceWithinAShot) {
  ServerBench bench(GetParam());
  const Acquisition acquisition = base_acquisition();
  const Books before = bench.books();
  const auto peer = bench.accepted_peer(acquisition);
  Bytes cut = shot_of(acquisition, 1, 0);
  cut.resize(cut.size() - 10);
  bench.send_and_wait(*peer, cut);
  ASSERT_TRUE(bench.reaches([&] { return bench.books().frames.frames_in_flight == 1; }));
  bench.clock.advance(1s);
  ASSERT_TRUE(bench.reaches([&] { return bench.books().frames.frames_in_flight == 0; }));
  EXPECT_EQ(bench.books().frames.slots_free, bench.books().frames.slots - 1);
  bench.clock.advance(9s);
  EXPECT_THAT(peer->reject_reason(), HasSubstr("connection: found no byte for 10000 ms within a message"));
  bench.expect_change(before, {.received = 1, .dropped = {{DropReason::incomplete, 1}}, .accepted = 1, .timed_out = 1});
  bench.expect_good_sender();
}

TEST_P(TimeOuts, TricklingShot) {
  ServerBench bench(GetParam());
  const Acquisition acquisition = base_acquisition();
  const Books before = bench.books();
  const auto peer = bench.accepted_peer(acquisition);
  bench.send_and_wait(*peer, frame_message(acquisition, 1));
  const Bytes shot = shot_of(acquisition, 2, 0);
  // A byte every 5 s never is a silence of 10 s; the message as a whole has 60 s.
  for (std::size_t i = 0; i < 12; ++i) {
    bench.send_and_wait(*peer, {shot[i]});
    bench.clock.advance(5s);
  }
  EXPECT_THAT(peer->reject_reason(),
              HasSubstr("connection: found a message of which a part is missing after 60000 ms; expected the whole of it"));
  EXPECT_TRUE(peer->closed());
  bench.expect_change(before, {.received = 1, .published = 1, .accepted = 1, .timed_out = 1});
  bench.expect_images(acquisition, {1});
  bench.expect_good_sender();
}

TEST_P(TimeOuts, IdleSender) {
  Configuration configuration = base_configuration(GetParam());
  configuration.input.idle_timeout = Seconds(30.0);
  ServerBench bench(configuration);
  const Acquisition acquisition = base_acquisition();
  const Books before = bench.books();
  const auto peer = bench.accepted_peer(acquisition);
  bench.send_and_wait(*peer, frame_message(acquisition, 1));
  bench.clock.advance(29s);
  bench.send_and_wait(*peer, frame_message(acquisition, 2));
  bench.clock.advance(30s);
  EXPECT_THAT(peer->reject_reason(),
              HasSubstr("connection: found no byte for 30000 ms between messages; expected a Shot or an End"));
  bench.expect_change(before, {.received = 2, .published = 2, .accepted = 1, .timed_out = 1});
  bench.expect_images(acquisition, {1, 2});
  bench.expect_good_sender();
}

TEST_P(TimeOuts, IdleSenderThatMayBeIdle) {
  ServerBench bench(GetParam());
  const Acquisition acquisition = base_acquisition();
  const Books before = bench.books();
  GoodSender good(bench, acquisition);
  good.send(1, 1);
  ASSERT_TRUE(bench.settled(before, 1));
  bench.clock.advance(std::chrono::hours(24 * 30));
  good.send(2, 1);
  good.finish();
  bench.expect_change(before, {.received = 2, .published = 2, .accepted = 1});
  bench.expect_images(acquisition, {1, 2});
}

TEST_P(TimeOuts, FrameThatIsNotFinished) {
  ServerBench bench(GetParam());
  const Acquisition acquisition = base_acquisition();
  const Books before = bench.books();
  const auto peer = bench.accepted_peer(acquisition);
  bench.send_and_wait(*peer, shot_of(acquisition, 1, 0) + shot_of(acquisition, 1, 1) + shot_of(acquisition, 1, 2));
  ASSERT_TRUE(bench.reaches([&] { return bench.books().source.shots_received == before.source.shots_received + 3; }));
  bench.clock.advance(999ms);
  bench.send_and_wait(*peer, shot_of(acquisition, 1, 3));  // just in time
  ASSERT_TRUE(bench.published(1));
  bench.send_and_wait(*peer, shot_of(acquisition, 2, 0));
  ASSERT_TRUE(bench.reaches([&] { return bench.books().source.shots_received == before.source.shots_received + 5; }));
  bench.clock.advance(1s);
  ASSERT_TRUE(bench.settled(before, 2));
  bench.send_and_wait(*peer, shot_of(acquisition, 2, 1) + frame_message(acquisition, 3) + end_message());
  EXPECT_TRUE(peer->closed());
  bench.expect_change(before,
                      {.received = 3, .published = 2, .dropped = {{DropReason::incomplete, 1}}, .stale = 1, .accepted = 1});
  bench.expect_images(acquisition, {1, 3});
  bench.expect_good_sender();
}

}  // namespace
}  // namespace echoform::faults
