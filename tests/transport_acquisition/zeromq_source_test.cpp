// The ZeroMQ door over real sockets: the same bits as over TCP, and a good sender that no bad one beside it harms.
#include "transport/acquisition/zeromq_source.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "base/errors.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/zmtp_peer.hpp"
#include "tests/transport_acquisition/fake_host.hpp"
#include "tests/transport_acquisition/zeromq_peer.hpp"
#include "transport/acquisition/sender.hpp"
#include "transport/acquisition/tcp_source.hpp"
#include "transport/acquisition/zeromq_sender.hpp"

namespace echoform {
namespace {

using namespace testing_support;
using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr std::uint64_t good_session = 1000;

/// Sends random frames of `acquisition` over both transports.
void expect_the_same_bits_over_both(const Acquisition& acquisition) {
  constexpr std::uint64_t frames = 6;
  FakeHost tcp_host, zeromq_host;
  tcp_host.slots = zeromq_host.slots = frames;
  const auto tcp = make_tcp_source({.port = 0});
  const auto zeromq = make_zeromq_source({.port = 0});
  tcp->start(tcp_host);
  zeromq->start(zeromq_host);
  AcquisitionSender over_tcp(acquisition, {.port = tcp->port(), .session = good_session});
  ZeromqSender over_zeromq(acquisition, {.port = zeromq->port(), .session = good_session});
  for (std::uint64_t sequence = 0; sequence < frames; ++sequence) {
    const Bytes frame = random_bytes(acquisition.frame_bytes(), sequence);
    const WallTime time(static_cast<std::int64_t>(1000 + sequence));
    over_tcp.send_frame({sequence, time, position_of(sequence)}, frame);
    over_zeromq.send_frame({sequence, time, position_of(sequence)}, frame);
  }
  over_tcp.finish();
  over_zeromq.finish();
  // Before the Hello came there is no connection either.
  ASSERT_TRUE(eventually([&] {
    const SourceCounters now = zeromq->counters();
    return tcp_host.intake(good_session) && now.connections_accepted == 1 && now.connections_open == 0;
  }));
  const auto expected = tcp_host.intake(good_session);
  const auto intake = zeromq_host.intake(good_session);
  EXPECT_TRUE(intake->acquisition() == acquisition);
  EXPECT_TRUE(intake->acquisition() == expected->acquisition());
  ASSERT_EQ(intake->frames, frames);
  for (std::uint64_t sequence = 0; sequence < frames; ++sequence) {
    EXPECT_EQ(intake->samples(sequence), expected->samples(sequence)) << sequence;
    EXPECT_EQ(intake->samples(sequence), random_bytes(acquisition.frame_bytes(), sequence)) << sequence;
    EXPECT_EQ(intake->time(sequence), expected->time(sequence));
    EXPECT_EQ(intake->positions(sequence), std::vector(acquisition.event_count(), position_of(sequence)));
  }
  const SourceCounters counters = zeromq->counters();
  EXPECT_EQ(counters.decode_errors_total(), 0U);
  EXPECT_EQ(counters.shots_received, frames * acquisition.event_count());
  EXPECT_EQ(counters.shots_discarded, 0U);
  EXPECT_EQ(counters.connections_accepted, 1U);
  EXPECT_EQ(counters.connections_timed_out, 0U);
  EXPECT_EQ(counters.bytes_received, over_zeromq.bytes_sent());
}

class ZeromqRoundTrip : public testing::TestWithParam<std::tuple<SampleEncoding, MatrixKind>> {};

TEST_P(ZeromqRoundTrip, IsTheSameBitsAsOverTcp) {
  // An odd count of samples, so that packed A-scans end within a byte.
  expect_the_same_bits_over_both(make_acquisition(9, 333, std::get<1>(GetParam()), std::get<0>(GetParam())));
}

TEST(ZeromqRoundTripOfEvents, IsTheSameBitsAsOverTcp) {
  expect_the_same_bits_over_both(acquisition_of_waves(33));
  expect_the_same_bits_over_both(acquisition_of_codes(33));
  expect_the_same_bits_over_both(acquisition_of_passive(33));
}

INSTANTIATE_TEST_SUITE_P(All, ZeromqRoundTrip,
                         testing::Combine(testing::Values(SampleEncoding::int16, SampleEncoding::packed12,
                                                          SampleEncoding::float32),
                                          testing::Values(MatrixKind::full, MatrixKind::half, MatrixKind::half_summed)));

/// A source and a sender that keeps sending frames through all that the test does.
class ZeromqSourceTest : public testing::Test {
 protected:
  void serve(ZeromqSourceOptions options = {}, const std::optional<CurveClientKeys>& keys = {}) {
    options.port = 0;
    options.tick = 5ms;
    host_.single_sender = true;
    source_ = make_zeromq_source(options, clock_);
    source_->start(host_);
    good_ = std::make_unique<ZeromqSender>(
        small_acquisition(),
        ZeromqSenderOptions{.port = source_->port(), .token = options.token, .session = good_session, .keys = keys});
    thread_ = std::thread([this] {
      const Bytes frame = random_bytes(small_acquisition().frame_bytes(), 1);
      try {
        for (std::uint64_t sequence = 1; !stop_; ++sequence) good_->send_frame({sequence, WallTime(1)}, frame);
        good_->finish();
      } catch (const std::exception& error) {
        failure_ = error.what();
      }
    });
    ASSERT_TRUE(eventually([&] { return source_->counters().connections_accepted == 1; }));
    intake_ = host_.intake(good_session);
    ASSERT_TRUE(eventually([&] { return intake_->frames >= host_.slots; }));
  }
  void expect_good_goes_on() {
    const std::uint64_t frames = intake_->frames;
    EXPECT_TRUE(eventually([&] { return intake_->frames >= frames + 50; }));
    EXPECT_EQ(source_->counters().connections_timed_out, 0U);
    EXPECT_EQ(source_->counters().connections_accepted, 1U);
  }
  std::uint64_t errors(DecodeReason reason) const { return source_->counters().decode_errors[static_cast<std::size_t>(reason)]; }
  std::uint64_t refused(PeerRefusal reason) const { return source_->peers()->refused[static_cast<std::size_t>(reason)]; }

  void TearDown() override {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    EXPECT_EQ(failure_, "");
    if (!source_) return;
    EXPECT_TRUE(eventually([&] { return source_->counters().connections_open == 0; }));
    source_->stop();
    EXPECT_EQ(intake_->lanes(), 0U);
    EXPECT_EQ(intake_->shots_open(), 0U);
    EXPECT_EQ(intake_->samples(intake_->frames), random_bytes(small_acquisition().frame_bytes(), 1));
  }

  ManualClock clock_;
  FakeHost host_;
  std::unique_ptr<ZeromqSource> source_;
  std::unique_ptr<ZeromqSender> good_;
  std::thread thread_;
  std::atomic<bool> stop_{false};
  std::string failure_;
  std::shared_ptr<FakeIntake> intake_;
};

TEST_F(ZeromqSourceTest, AFloodOfGarbageIsCountedExactlyAndStarvesNobody) {
  serve();
  constexpr std::uint64_t flood = 20'000;
  RawPusher peer(source_->port());
  const Bytes garbage = random_bytes(200, 3);
  for (std::uint64_t i = 0; i < flood; ++i) peer.send(garbage);
  EXPECT_TRUE(eventually([&] { return errors(DecodeReason::bad_magic) == flood; }));
  EXPECT_EQ(source_->counters().decode_errors_total(), flood);
  expect_good_goes_on();
}

TEST_F(ZeromqSourceTest, ASecondSenderIsRefusedAndTheFirstUnharmed) {
  serve();
  RawPusher peer(source_->port());
  for (std::uint64_t sequence = 1; sequence <= 5; ++sequence) {
    peer.send(frame_of(small_acquisition(), 7, sequence, random_bytes(small_acquisition().frame_bytes(), 9)));
  }
  EXPECT_TRUE(eventually([&] { return source_->counters().shots_discarded == 20; }));
  EXPECT_EQ(source_->counters().connections_rejected, 1U);
  EXPECT_EQ(source_->last_rejection(), "acquisition stream: another sender is active");
  EXPECT_EQ(source_->counters().decode_errors_total(), 0U);
  expect_good_goes_on();
}

TEST_F(ZeromqSourceTest, AMessageBeyondTheLimitEndsItsConnectionAlone) {
  ZeromqSourceOptions options;
  options.limits = {.elements = 4, .samples = 16, .frame_bytes = 1 << 20};
  serve(options);
  const std::uint64_t bytes = source_->counters().bytes_received;
  {
    // libzmq cuts it off; what it pushed behind the long message is lost with the connection.
    RawPusher peer(source_->port());
    peer.send(Bytes(longest_message(options.limits) + 4096));
  }
  expect_good_goes_on();
  EXPECT_EQ(source_->counters().decode_errors_total(), 0U);
  EXPECT_LT(source_->counters().bytes_received - bytes, longest_message(options.limits) + (std::uint64_t{64} << 20));
}

TEST_F(ZeromqSourceTest, PartsBeyondTheSecondAreCountedAsOneBadMessage) {
  serve();
  RawPusher peer(source_->port());
  Bytes head = shot_of(good_session, 1, 0, Bytes(128));
  head.resize(head.size() - 128);
  peer.send(head, true);
  for (int i = 0; i < 9; ++i) peer.send(Bytes(128), true);
  peer.send(Bytes(128));
  EXPECT_TRUE(eventually([&] { return errors(DecodeReason::bad_payload_length) == 1; }));
  peer.send(end_of(7));
  expect_good_goes_on();
  EXPECT_EQ(source_->counters().decode_errors_total(), 1U);
}

TEST_F(ZeromqSourceTest, AMessageOfPartsWithoutEndIsCutOff) {
  ZeromqSourceOptions options;
  options.limits = {.elements = 4, .samples = 16, .frame_bytes = 1 << 20};
  serve(options);
  // The good one is held back, which is no reason to cut it off; at full speed it would leave libzmq little time for the other.
  intake_->block();
  ASSERT_TRUE(eventually([&] { return intake_->waits > 0; }));
  ZmtpPeer endless(source_->port(), "PUSH");
  const std::string parts = repeated(ZmtpPeer::message(std::string(255, 'x'), true), 1000);
  EXPECT_TRUE(eventually([&] {
    endless.send_some(parts);
    return refused(PeerRefusal::flooding) == 1;
  }));
  intake_->unblock();
  expect_good_goes_on();
  EXPECT_EQ(refused(PeerRefusal::flooding), 1U) << "the good one sends no less, in messages that end";
  EXPECT_EQ(source_->counters().decode_errors_total(), 0U);
}

TEST_F(ZeromqSourceTest, AWrongTokenGetsNothingIn) {
  ZeromqSourceOptions options;
  options.token = "secret";
  serve(options);
  RawPusher peer(source_->port());
  peer.send(hello_of(small_acquisition(), 7, "sekret"));
  peer.send(shot_of(7, 1, 0, Bytes(128)));
  EXPECT_TRUE(eventually([&] { return source_->counters().shots_discarded == 1; }));
  EXPECT_EQ(source_->counters().connections_rejected, 1U);
  EXPECT_THAT(source_->last_rejection(), HasSubstr("Hello token: found a wrong one"));
  EXPECT_EQ(host_.intake(7), nullptr);
  expect_good_goes_on();
}

TEST_F(ZeromqSourceTest, WithKeysOnlyAListedClientGetsAnythingIn) {
  const CurvePair server = make_curve_pair(), client = make_curve_pair(), stranger = make_curve_pair();
  ZeromqSourceOptions options;
  options.keys = CurveServerKeys{server.secret_key, {client.public_key}};
  serve(options, CurveClientKeys{client, server.public_key});
  const std::uint64_t bytes = source_->counters().bytes_received;
  RawPusher unlisted(source_->port(), CurveClientKeys{stranger, server.public_key});
  RawPusher wrong_server(source_->port(), CurveClientKeys{client, stranger.public_key});
  RawPusher plain(source_->port());
  for (RawPusher* peer : {&unlisted, &wrong_server, &plain}) peer->offer(random_bytes(100, 1));
  EXPECT_TRUE(eventually([&] { return refused(PeerRefusal::wrong_key) >= 1 && refused(PeerRefusal::bad_handshake) >= 2; }));
  expect_good_goes_on();
  EXPECT_GT(source_->counters().bytes_received, bytes);
  EXPECT_EQ(source_->counters().decode_errors_total(), 0U) << "garbage of theirs would be counted";
}

TEST_F(ZeromqSourceTest, OneConnectionTooManyIsTurnedAway) {
  ZeromqSourceOptions options;
  options.maximum_connections = 2;
  serve(options);
  RawPusher second(source_->port());
  second.send(random_bytes(100, 1));
  ASSERT_TRUE(eventually([&] { return errors(DecodeReason::bad_magic) == 1; }));
  RawPusher third(source_->port());
  third.send(random_bytes(100, 1));
  EXPECT_TRUE(eventually([&] { return refused(PeerRefusal::too_many) >= 1; }));
  expect_good_goes_on();
  EXPECT_LE(errors(DecodeReason::bad_magic), 2U) << "what it sent at once may have come in before it was turned away";
}

TEST_F(ZeromqSourceTest, ASenderThatDiesInMidFrameMakesRoomAfterItsSilence) {
  serve();
  stop_ = true;
  thread_.join();
  ASSERT_TRUE(eventually([&] { return source_->counters().connections_open == 0; }));
  host_.single_sender = false;
  {
    RawPusher dying(source_->port());
    dying.send(hello_of(small_acquisition(), 7));
    dying.send(shot_of(7, 1, 0, Bytes(128)));
    const auto intake = [&] { return host_.intake(7); };
    ASSERT_TRUE(eventually([&] { return intake() && source_->counters().connections_open == 1; }));
  }
  RawPusher next(source_->port());
  next.send(hello_of(small_acquisition(), 8));
  ASSERT_TRUE(eventually([&] { return source_->counters().connections_rejected == 1; }));
  clock_.advance(5s);
  ASSERT_TRUE(eventually([&] { return source_->counters().connections_timed_out == 1; }));
  EXPECT_EQ(host_.intake(7)->lanes(), 0U);
  EXPECT_EQ(host_.intake(7)->frames, 0U);
  const Bytes frame = random_bytes(small_acquisition().frame_bytes(), 4);
  next.send(frame_of(small_acquisition(), 8, 1, frame));
  ASSERT_TRUE(eventually([&] { return host_.intake(8) && host_.intake(8)->frames == 1; }));
  EXPECT_EQ(host_.intake(8)->samples(1), frame);
  next.send(end_of(8));
}

TEST_F(ZeromqSourceTest, WaitingHoldsTheSenderBackAndLosesNothing) {
  serve();
  intake_->block();
  ASSERT_TRUE(eventually([&] { return intake_->waits > 0; }));
  const std::uint64_t shots = source_->counters().shots_received;
  // Time-outs do not hit whom we hold back ourselves.
  clock_.advance(60s);
  const std::uint64_t expiries = intake_->expiries;
  ASSERT_TRUE(eventually([&] { return intake_->expiries > expiries + 2; }));
  EXPECT_EQ(source_->counters().shots_received, shots);
  EXPECT_EQ(source_->counters().connections_open, 1U);
  intake_->unblock();
  expect_good_goes_on();
  stop_ = true;
  thread_.join();
  EXPECT_TRUE(eventually([&] { return source_->counters().bytes_received == good_->bytes_sent(); }));
}

TEST_F(ZeromqSourceTest, StoppingWhileTheSenderIsHeldBackEndsAtOnce) {
  serve();
  intake_->block();
  ASSERT_TRUE(eventually([&] { return intake_->waits > 0; }));
  source_->stop();
  EXPECT_EQ(intake_->lanes(), 0U);
  stop_ = true;
  good_->cancel();
  thread_.join();
  EXPECT_THAT(failure_, testing::AnyOf("", "sending was broken off"));
  failure_.clear();
}

/// A port that is free; whoever binds it next has it.
std::uint16_t free_port() {
  ZeromqContext context;
  return bound_port(bind_socket(context, {.type = zmq::socket_type::pull, .what = "test"}));
}

TEST(ZeromqDoor, AServerThatStartsLateOrAgainJoinsInTheMiddle) {
  const Acquisition acquisition = small_acquisition();
  const std::uint16_t port = free_port();
  ZeromqSender sender(acquisition, {.port = port, .session = good_session});
  std::atomic<bool> stop{false};
  std::string failure;
  std::thread thread([&] {
    try {
      for (std::uint64_t sequence = 1; !stop; ++sequence) {
        sender.send_frame({sequence, WallTime(1)}, random_bytes(acquisition.frame_bytes(), sequence % 4));
      }
      sender.finish();
    } catch (const std::exception& error) {
      failure = error.what();
    }
  });
  for (int server = 0; server < 3; ++server) {
    FakeHost host;
    const auto source = make_zeromq_source({.port = port});
    source->start(host);
    ASSERT_TRUE(eventually([&] { return host.intake(good_session) && host.intake(good_session)->frames >= 20; }));
    EXPECT_EQ(source->counters().decode_errors_total(), 0U);
    EXPECT_EQ(source->counters().connections_accepted, 1U);
    if (server == 2) {
      stop = true;
      thread.join();
      EXPECT_TRUE(eventually([&] { return source->counters().connections_open == 0; }));
      for (std::uint64_t sequence = 0; sequence < 4; ++sequence) {
        EXPECT_EQ(host.intake(good_session)->samples(sequence), random_bytes(acquisition.frame_bytes(), sequence));
      }
    }
    source->stop();
  }
  EXPECT_EQ(failure, "");
}

TEST(ZeromqDoor, OneSenderAtATimeOverBothDoors) {
  FakeHost host;
  host.single_sender = true;
  const auto tcp = make_tcp_source({.port = 0});
  const auto zeromq = make_zeromq_source({.port = 0});
  tcp->start(host);
  zeromq->start(host);
  const Bytes frame = random_bytes(small_acquisition().frame_bytes(), 1);
  AcquisitionSender first(small_acquisition(), {.port = tcp->port(), .session = good_session});
  first.send_frame({1, WallTime(1)}, frame);
  RawPusher second(zeromq->port());
  second.send(frame_of(small_acquisition(), 7, 1, random_bytes(small_acquisition().frame_bytes(), 2)));
  ASSERT_TRUE(eventually([&] { return zeromq->counters().shots_discarded == 4; }));
  EXPECT_EQ(zeromq->counters().connections_rejected, 1U);
  EXPECT_EQ(zeromq->last_rejection(), "stream: found a second sender; expected one at a time");
  first.send_frame({2, WallTime(1)}, frame);
  first.finish();
  EXPECT_EQ(host.intake(good_session)->frames, 2U);
  EXPECT_EQ(host.intake(good_session)->samples(2), frame);
  EXPECT_EQ(tcp->counters().decode_errors_total(), 0U);
}

TEST(ZeromqDoor, APortInUseIsNamed) {
  FakeHost host;
  const auto first = make_zeromq_source({.port = 0});
  first->start(host);
  const auto second = make_zeromq_source({.port = first->port()});
  try {
    second->start(host);
    FAIL() << "bound twice";
  } catch (const RuntimeFault& fault) {
    EXPECT_EQ(std::string(fault.what()), "acquisition: cannot listen on tcp://127.0.0.1:" + std::to_string(first->port()) +
                                             ": the port is in use; choose another or stop the program that holds it");
  }
}

TEST(ZeromqDoor, OptionsOutOfRangeAreNamed) {
  EXPECT_THROW((void)make_zeromq_source({.address = "nowhere"}), InputError);
  EXPECT_THROW((void)make_zeromq_source({.idle_timeout = 0ms}), InputError);
  EXPECT_THROW((void)make_zeromq_source({.tick = 0ms}), InputError);
  EXPECT_THROW((void)make_zeromq_source({.maximum_connections = 0}), InputError);
  EXPECT_THROW(ZeromqSender(small_acquisition(), {.queued_frames = 0}), InputError);
}

TEST(ZeromqDoor, WhatMayWaitFollowsFromTheLimits) {
  const AcquisitionLimits limits{.elements = 256, .samples = 65536, .frame_bytes = std::size_t{1} << 28};
  EXPECT_EQ(longest_message(limits), 24U + 256U + 256U * 65536U * 4U);
  EXPECT_EQ(waiting_messages(limits), 3);
  EXPECT_EQ(longest_message({.elements = 4, .samples = 16, .frame_bytes = 1 << 20}), 24U + (1U << 20U)) << "a Hello fits";
  EXPECT_EQ(waiting_messages({.elements = 4, .samples = 16, .frame_bytes = 1 << 20}), 2);
  EXPECT_EQ(waiting_messages({.elements = 64, .samples = 4096, .frame_bytes = 1 << 30}), 1000);
}

TEST(ZeromqDoor, ASenderWithoutAServerCanBeBrokenOff) {
  ZeromqSender sender(small_acquisition(), {.port = free_port()});
  std::thread canceller([&] { sender.cancel(); });
  EXPECT_THROW(sender.send_frame({1, WallTime(1)}, Bytes(small_acquisition().frame_bytes())), RuntimeFault);
  canceller.join();
  EXPECT_THROW(sender.send_frame({1, WallTime(1)}, Bytes(3)), InputError);
}

}  // namespace
}  // namespace echoform
