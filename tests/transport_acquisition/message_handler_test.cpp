// Whole messages of many senders in one row: each is judged by itself, one session at a time is imaged. Time is driven.
#include "transport/acquisition/message_handler.hpp"

#include <gmock/gmock.h>

#include "base/errors.hpp"
#include "tests/transport_acquisition/fake_host.hpp"
#include "tests/transport_acquisition/whole_messages.hpp"

namespace echoform {
namespace {

using namespace testing_support;
using namespace std::chrono_literals;
using testing::HasSubstr;
using Verdict = MessageHandler::Verdict;

/// Opens one stream, for whoever comes first, and counts how often it is asked.
class CountingHost final : public StreamHost {
 public:
  std::shared_ptr<FrameIntake> open_stream(std::uint64_t session, const Acquisition& acquisition) override {
    ++asked;
    if (refusal) throw InputError(*refusal);
    if (hidden) throw StreamRefused("/etc/server.toml: " + *hidden, "server.toml: " + *hidden);
    if (fault) throw RuntimeFault(*fault);
    if (!intake || opened != session || !(intake->acquisition() == acquisition)) {
      intake = std::make_shared<FakeIntake>(acquisition, 4);
      opened = session;
    }
    return intake;
  }
  bool is_busy_for(std::uint64_t session) const override { return busy && session != opened; }
  std::optional<std::string> refusal, hidden, fault;
  bool busy = false;
  std::shared_ptr<FakeIntake> intake;
  std::uint64_t opened = 0;
  int asked = 0;
};

class MessageHandlerTest : public testing::Test {
 protected:
  MessageHandlerTest() { make(); }
  void make(const std::string& token = {}) {
    MessageHandlerOptions options;
    options.token = token;
    handler_.emplace(options, host_, clock_, counters_, warnings_, [this] { ++wakes_; });
  }
  Verdict give(const Bytes& message) {
    const std::span<const std::byte> part = message;
    return handler_->take({&part, 1});
  }
  void give_all(const std::vector<Bytes>& messages) {
    for (const Bytes& message : messages) ASSERT_EQ(give(message), Verdict::taken);
  }
  SourceCounters now() const { return counters_.read(); }
  std::uint64_t errors(DecodeReason reason) const { return now().decode_errors[static_cast<std::size_t>(reason)]; }

  const Bytes frame_ = random_bytes(small_acquisition().frame_bytes(), 1);
  ManualClock clock_;
  CountingHost host_;
  LiveSourceCounters counters_;
  PeerWarnings warnings_{clock_};
  int wakes_ = 0;
  std::optional<MessageHandler> handler_;
};

TEST_F(MessageHandlerTest, FramesArriveBitByBit) {
  for (std::uint64_t sequence = 0; sequence < 3; ++sequence) {
    give_all(frame_of(small_acquisition(), 7, sequence, random_bytes(small_acquisition().frame_bytes(), sequence)));
  }
  ASSERT_EQ(host_.intake->frames, 3U);
  for (std::uint64_t sequence = 0; sequence < 3; ++sequence) {
    EXPECT_EQ(host_.intake->samples(sequence), random_bytes(small_acquisition().frame_bytes(), sequence));
  }
  EXPECT_EQ(host_.asked, 1) << "a repeated Hello opens nothing";
  EXPECT_EQ(now().connections_accepted, 1U);
  EXPECT_EQ(now().connections_open, 1U);
  EXPECT_EQ(now().shots_received, 12U);
  EXPECT_EQ(now().shots_discarded, 0U);
  EXPECT_EQ(now().bytes_received,
            3 * (hello_of(small_acquisition(), 7).size() + 4 * (shot_of(7, 1, 1, Bytes(128)).size())) - 3 * 2 - 4 * 2)
      << "sequence 0 and transmit 0 take no bytes";
  EXPECT_EQ(give(end_of(7)), Verdict::taken);
  EXPECT_EQ(now().connections_open, 0U);
  EXPECT_EQ(host_.intake->lanes(), 0U);
  EXPECT_EQ(now().decode_errors_total(), 0U);
}

TEST_F(MessageHandlerTest, ThePayloadMayBeAPartOfItsOwn) {
  ASSERT_EQ(give(hello_of(small_acquisition(), 7)), Verdict::taken);
  for (std::uint32_t transmit = 0; transmit < 4; ++transmit) {
    const Bytes payload = shot_payload(small_acquisition(), frame_, transmit);
    Bytes head = shot_of(7, 1, transmit, payload);
    head.resize(head.size() - payload.size());
    const std::array<std::span<const std::byte>, 2> parts{head, payload};
    ASSERT_EQ(handler_->take(parts), Verdict::taken);
  }
  EXPECT_EQ(host_.intake->frames, 1U);
  EXPECT_EQ(host_.intake->samples(1), frame_);
}

struct BadMessage {
  const char* name;
  DecodeReason reason;
  Bytes (*make)();
};

class BadMessages : public MessageHandlerTest, public testing::WithParamInterface<BadMessage> {};

TEST_P(BadMessages, AreCountedAndSkippedInTheMiddleOfAFrame) {
  const auto messages = frame_of(small_acquisition(), 7, 1, frame_);
  for (const Bytes& message : messages) {
    ASSERT_EQ(give(GetParam().make()), Verdict::taken);
    ASSERT_EQ(give(message), Verdict::taken);
  }
  EXPECT_EQ(host_.intake->frames, 1U);
  EXPECT_EQ(host_.intake->samples(1), frame_);
  std::array<std::uint64_t, decode_reason_count> expected{};
  expected[static_cast<std::size_t>(GetParam().reason)] = messages.size();
  EXPECT_EQ(now().decode_errors, expected);
  EXPECT_EQ(now().connections_open, 1U);
  EXPECT_EQ(now().shots_received, 4U);
}

Bytes good_shot() {
  return shot_of(7, 1, 0, Bytes(128));
}
/// From the first message on, so that it is the active session's; bad whether the session is known or not.
INSTANTIATE_TEST_SUITE_P(
    All, BadMessages,
    testing::Values(
        BadMessage{"nothing", DecodeReason::truncated, [] { return Bytes(); }},
        BadMessage{"a_few_bytes", DecodeReason::truncated, [] { return Bytes(23); }},
        BadMessage{"garbage", DecodeReason::bad_magic, [] { return random_bytes(500, 3); }},
        BadMessage{"another_version", DecodeReason::bad_version, [] { return with_prefix_field(end_of(7), 4, 2, 2); }},
        BadMessage{"another_type", DecodeReason::bad_type, [] { return with_prefix_field(end_of(7), 6, 2, 6); }},
        BadMessage{"an_answer", DecodeReason::unexpected_message, [] { return encode_message(MessageType::accept, {}); }},
        BadMessage{"a_header_too_long", DecodeReason::bad_header_length, [] { return with_prefix_field(end_of(7), 8, 4, 257); }},
        BadMessage{"a_header_cut_off", DecodeReason::truncated, [] { return with_prefix_field(end_of(7), 8, 4, 256); }},
        BadMessage{"a_payload_cut_off", DecodeReason::truncated,
                   [] {
                     auto b = good_shot();
                     b.pop_back();
                     return b;
                   }},
        BadMessage{"bytes_behind_the_payload", DecodeReason::bad_payload_length, [] { return good_shot() + Bytes(1); }},
        BadMessage{"a_payload_where_none_may_be", DecodeReason::bad_payload_length,
                   [] { return raw_message(5, "", 4, Bytes(4)); }},
        BadMessage{"a_wrong_checksum", DecodeReason::bad_checksum,
                   [] {
                     auto b = good_shot();
                     b[20] ^= std::byte{1};
                     return b;
                   }},
        BadMessage{"a_wrong_checksum_of_an_end", DecodeReason::bad_checksum,
                   [] {
                     auto b = end_of(7);
                     b[20] ^= std::byte{1};
                     return b;
                   }},
        BadMessage{"a_shot_that_is_none", DecodeReason::bad_header, [] { return raw_message(4, "\xff", 128, Bytes(128)); }},
        BadMessage{"a_shot_without_session", DecodeReason::bad_header, [] { return shot_message(1, 0, Bytes(128)); }},
        BadMessage{"an_end_without_session", DecodeReason::unexpected_message,
                   [] { return encode_message(MessageType::end, {}); }},
        BadMessage{"a_hello_that_is_none", DecodeReason::bad_header, [] { return raw_message(1, "\xff", 0); }}),
    [](const auto& instance) { return instance.param.name; });

TEST_F(MessageHandlerTest, ShotsThatTheHelloDoesNotDescribeAreSkipped) {
  ASSERT_EQ(give(hello_of(small_acquisition(), 7)), Verdict::taken);
  ASSERT_EQ(give(shot_of(7, 1, 4, Bytes(128))), Verdict::taken);
  EXPECT_EQ(errors(DecodeReason::bad_transmit), 1U);
  ASSERT_EQ(give(shot_of(7, 1, 0, Bytes(100))), Verdict::taken);
  EXPECT_EQ(errors(DecodeReason::bad_payload_length), 1U);
  give_all(frame_of(small_acquisition(), 7, 1, frame_));
  EXPECT_EQ(host_.intake->frames, 1U);
  EXPECT_EQ(now().decode_errors_total(), 2U);
}

TEST_F(MessageHandlerTest, MorePartsThanTwoAndAPayloadInBothAreRefused) {
  ASSERT_EQ(give(hello_of(small_acquisition(), 7)), Verdict::taken);
  const Bytes shot = good_shot();
  const Bytes rest(128);
  const std::array<std::span<const std::byte>, 3> three{std::span(shot).first(shot.size() - 128), rest, rest};
  ASSERT_EQ(handler_->take(three), Verdict::taken);
  const std::array<std::span<const std::byte>, 2> both{shot, rest};
  ASSERT_EQ(handler_->take(both), Verdict::taken);
  EXPECT_EQ(errors(DecodeReason::bad_payload_length), 2U);
  EXPECT_EQ(now().shots_received, 0U);
}

TEST_F(MessageHandlerTest, ShotsBeforeTheirHelloAreThrownAway) {
  // As a server meets them that is started while the sender sends.
  const auto messages = frame_of(small_acquisition(), 7, 1, frame_);
  ASSERT_EQ(give(messages[3]), Verdict::taken);
  ASSERT_EQ(give(messages[4]), Verdict::taken);
  EXPECT_EQ(now().shots_discarded, 2U);
  EXPECT_EQ(now().decode_errors_total(), 0U);
  give_all(frame_of(small_acquisition(), 7, 2, frame_));
  EXPECT_EQ(host_.intake->frames, 1U);
  EXPECT_EQ(now().shots_received, 6U);
}

TEST_F(MessageHandlerTest, ASecondSenderIsRefusedOnceAndHarmsNobody) {
  const auto good = frame_of(small_acquisition(), 7, 1, frame_);
  const auto bad = frame_of(small_acquisition(), 8, 1, random_bytes(small_acquisition().frame_bytes(), 9));
  for (std::size_t i = 0; i < good.size(); ++i) give_all({good[i], bad[i]});
  EXPECT_EQ(host_.intake->frames, 1U);
  EXPECT_EQ(host_.intake->samples(1), frame_);
  EXPECT_EQ(host_.asked, 1);
  EXPECT_EQ(now().connections_rejected, 1U);
  EXPECT_EQ(now().shots_discarded, 4U);
  EXPECT_EQ(counters_.last_rejection(), "acquisition stream: another sender is active");
  // Its Hellos go on for a while; the reason is the same and counts once.
  for (int second = 0; second < 3; ++second) {
    clock_.advance(1s);
    give_all({good[0], bad[0], bad[1]});
  }
  EXPECT_EQ(now().connections_rejected, 1U);
  EXPECT_EQ(now().decode_errors_total(), 0U);
  // Its End is not the first one's; and when the first has ended, its next Hello is heard, a second later at most.
  give_all({end_of(8), good[1]});
  EXPECT_EQ(now().connections_open, 1U);
  give_all({bad[0], end_of(7)});
  EXPECT_EQ(now().connections_rejected, 2U) << "its End had ended the episode";
  clock_.advance(1s);
  give_all(bad);
  EXPECT_EQ(host_.opened, 8U);
  EXPECT_EQ(host_.intake->frames, 1U);
  EXPECT_EQ(now().connections_accepted, 2U);
}

TEST_F(MessageHandlerTest, AnotherMayBeginWhenTheFirstHasBeenSilent) {
  give_all({hello_of(small_acquisition(), 7), shot_of(7, 1, 0, shot_payload(small_acquisition(), frame_, 0))});
  const auto first = host_.intake;
  // Killed in mid-frame. What others send does not count for it.
  for (int i = 0; i < 49; ++i) {
    clock_.advance(100ms);
    give_all({hello_of(small_acquisition(), 8)});
    handler_->tick();
  }
  EXPECT_EQ(now().connections_open, 1U);
  EXPECT_EQ(first->lanes(), 1U);
  clock_.advance(100ms);
  handler_->tick();
  EXPECT_EQ(now().connections_timed_out, 1U);
  EXPECT_EQ(now().connections_open, 0U);
  EXPECT_EQ(first->lanes(), 0U);
  clock_.advance(1s);
  give_all(frame_of(small_acquisition(), 8, 1, frame_));
  EXPECT_EQ(now().connections_accepted, 2U);
  EXPECT_EQ(host_.intake->frames, 1U);
}

TEST_F(MessageHandlerTest, ASessionThatWasSilentGoesOnWithItsNextHello) {
  give_all(frame_of(small_acquisition(), 7, 1, frame_));
  clock_.advance(5s);
  handler_->tick();
  EXPECT_EQ(now().connections_open, 0U);
  give_all(frame_of(small_acquisition(), 7, 2, frame_));
  EXPECT_EQ(now().connections_accepted, 2U);
  EXPECT_EQ(host_.intake->frames, 2U) << "into the stream that it had";
  EXPECT_EQ(now().shots_discarded, 0U);
}

TEST_F(MessageHandlerTest, AWrongTokenGetsNothingIn) {
  make("secret");
  give_all(
      {hello_of(small_acquisition(), 8, "sekret"), shot_of(8, 1, 0, Bytes(128)), hello_of(small_acquisition(), 8, "sekret")});
  EXPECT_EQ(host_.asked, 0);
  EXPECT_EQ(now().connections_rejected, 1U);
  EXPECT_EQ(now().decode_errors_total(), 0U);
  EXPECT_EQ(now().shots_discarded, 1U);
  give_all({hello_of(small_acquisition(), 7, "secret"), shot_of(7, 1, 0, Bytes(128))});
  EXPECT_EQ(now().connections_accepted, 1U);
  // Nor by the active session's number, if it were known.
  give_all({hello_of(small_acquisition(), 7, "sekret"), hello_of(make_acquisition(4, 17), 7, "sekret")});
  EXPECT_EQ(now().connections_open, 1U);
  EXPECT_EQ(now().connections_rejected, 2U);
}

/// A Hello whose events are of an array that is not flat: what is wrong with it costs most to find.
Bytes costly_hello(std::uint64_t session, const std::string& token = {}) {
  Acquisition acquisition = make_acquisition(64, 16);
  acquisition.probe.elements[3].centre.z = Metres(1e-3);
  acquisition.events.assign(4096, {plane_wave(0.1, MetresPerSecond(6320.0)), {0}});
  return hello_of(acquisition, session, token);
}

TEST_F(MessageHandlerTest, WhileASenderIsActiveNothingOfOtherHellosIsLookedAt) {
  give_all(frame_of(small_acquisition(), 7, 1, frame_));
  give_all({costly_hello(8)});
  EXPECT_EQ(counters_.last_rejection(), "acquisition stream: another sender is active");
  EXPECT_EQ(now().decode_errors_total(), 0U) << "nobody has found out that it is wrong";
  EXPECT_EQ(host_.asked, 1);
  // Nor where the sender is at another door.
  give_all({end_of(7)});
  host_.busy = true;
  host_.opened = 9;
  give_all({costly_hello(10)});
  EXPECT_EQ(counters_.last_rejection(), "acquisition stream: another sender is active");
  EXPECT_EQ(now().decode_errors_total(), 0U);
  host_.busy = false;
  give_all({costly_hello(11)});
  EXPECT_THAT(counters_.last_rejection(), HasSubstr("mm off flat"));
  EXPECT_EQ(errors(DecodeReason::bad_hello), 1U);
}

TEST_F(MessageHandlerTest, WithoutTheTokenNothingOfAHelloIsLookedAt) {
  make("secret");
  give_all({costly_hello(8, "sekret")});
  EXPECT_THAT(counters_.last_rejection(), HasSubstr("Hello token: found a wrong one"));
  EXPECT_EQ(now().decode_errors_total(), 0U);
}

TEST_F(MessageHandlerTest, OthersAreNotToldWhereFilesOfTheServerAre) {
  host_.hidden = "[imaging] events: found 9; expected 0 to 3";
  give_all({hello_of(small_acquisition(), 7)});
  EXPECT_EQ(counters_.last_rejection(), "server.toml: [imaging] events: found 9; expected 0 to 3");
}

struct RefusedHello {
  const char* name;
  const char* reason;
  void (*change)(wire::Hello&);
};
class RefusedHellos : public MessageHandlerTest, public testing::WithParamInterface<RefusedHello> {};

TEST_P(RefusedHellos, AreRefusedWithTheReason) {
  wire::Hello message = wire_hello(small_acquisition(), 8);
  GetParam().change(message);
  // Of others nothing but who they are is looked at while one is active.
  if (message.session() == 7) give_all(frame_of(small_acquisition(), 7, 1, frame_));
  give_all({hello_message(message), hello_message(message)});
  EXPECT_THAT(counters_.last_rejection(), HasSubstr(GetParam().reason));
  EXPECT_EQ(errors(DecodeReason::bad_hello), 1U);
  EXPECT_EQ(now().decode_errors_total(), 1U);
  EXPECT_EQ(now().connections_rejected, 1U);
  if (message.session() != 7) give_all(frame_of(small_acquisition(), 7, 1, frame_));
  give_all(frame_of(small_acquisition(), 7, 2, frame_));
  EXPECT_EQ(host_.intake->frames, 2U);
}

INSTANTIATE_TEST_SUITE_P(
    All, RefusedHellos,
    testing::Values(RefusedHello{"no_session", "Hello session: found 0; expected a number drawn at random",
                                 [](wire::Hello& h) { h.set_session(0); }},
                    RefusedHello{"two_connections", "Hello connection_count: found 2; expected 1 over ZeroMQ",
                                 [](wire::Hello& h) { h.set_connection_count(2); }},
                    RefusedHello{"too_large", "Hello samples: found 4294967295",
                                 [](wire::Hello& h) { h.set_samples(4294967295U); }},
                    RefusedHello{"another_acquisition_of_the_session", "an acquisition that differs from this session's first",
                                 [](wire::Hello& h) {
                                   h.set_session(7);
                                   h.set_samples(17);
                                 }}),
    [](const auto& instance) { return instance.param.name; });

TEST_F(MessageHandlerTest, TheHostsReasonIsKeptAndAskedForOnceASecond) {
  host_.refusal = "acquisition stream: another sender is active";
  for (int i = 0; i < 50; ++i) give_all({hello_of(small_acquisition(), 7)});
  EXPECT_EQ(host_.asked, 1);
  clock_.advance(1s);
  for (int i = 0; i < 50; ++i) give_all({hello_of(small_acquisition(), 7)});
  EXPECT_EQ(host_.asked, 2);
  EXPECT_EQ(now().connections_rejected, 1U);
  host_.refusal.reset();
  host_.fault = "no memory";
  clock_.advance(1s);
  give_all({hello_of(small_acquisition(), 7)});
  EXPECT_EQ(counters_.last_rejection(), "the server could not open the stream") << "what of the server is wrong is for its log";
  EXPECT_EQ(now().connections_rejected, 2U);
  host_.fault.reset();
  clock_.advance(1s);
  give_all(frame_of(small_acquisition(), 7, 1, frame_));
  EXPECT_EQ(now().connections_accepted, 1U);
  EXPECT_EQ(host_.intake->frames, 1U);
}

TEST_F(MessageHandlerTest, WaitingKeepsTheShotAndGoesOnAfterTheWake) {
  give_all({hello_of(small_acquisition(), 7)});
  host_.intake->block();
  const Bytes shot = shot_of(7, 1, 0, shot_payload(small_acquisition(), frame_, 0));
  ASSERT_EQ(give(shot), Verdict::wait);
  EXPECT_EQ(handler_->resume(), Verdict::wait) << "woken without need";
  // Whoever is held back by us is not silent.
  clock_.advance(60s);
  handler_->tick();
  EXPECT_EQ(now().connections_timed_out, 0U);
  host_.intake->unblock();
  EXPECT_GE(wakes_, 1);
  EXPECT_EQ(handler_->resume(), Verdict::taken);
  handler_->tick();
  EXPECT_EQ(now().connections_timed_out, 0U);
  for (std::uint32_t transmit = 1; transmit < 4; ++transmit) {
    ASSERT_EQ(give(shot_of(7, 1, transmit, shot_payload(small_acquisition(), frame_, transmit))), Verdict::taken);
  }
  EXPECT_EQ(host_.intake->frames, 1U);
  EXPECT_EQ(host_.intake->samples(1), frame_);
  EXPECT_EQ(now().shots_received, 4U);
}

TEST_F(MessageHandlerTest, ClosingWhileItWaitsLeavesNoLane) {
  give_all({hello_of(small_acquisition(), 7)});
  host_.intake->block();
  ASSERT_EQ(give(shot_of(7, 1, 0, Bytes(128))), Verdict::wait);
  handler_->close();
  EXPECT_EQ(handler_->resume(), Verdict::taken);
  EXPECT_EQ(host_.intake->lanes(), 0U);
}

TEST_F(MessageHandlerTest, AFloodOfMadeUpSessionsDoesNotDisturb) {
  give_all(frame_of(small_acquisition(), 7, 1, frame_));
  for (std::uint64_t session = 100; session < 2100; ++session) {
    give_all({hello_of(small_acquisition(), session), shot_of(session, 1, 0, Bytes(128)), end_of(session)});
  }
  EXPECT_EQ(now().connections_rejected, 2000U);
  EXPECT_EQ(now().shots_discarded, 2000U);
  EXPECT_EQ(host_.asked, 1);
  give_all(frame_of(small_acquisition(), 7, 2, frame_));
  EXPECT_EQ(host_.intake->frames, 2U);
}

TEST_F(MessageHandlerTest, FramesExpireByTheTick) {
  give_all({hello_of(small_acquisition(), 7)});
  handler_->tick();
  EXPECT_EQ(host_.intake->expiries, 1U);
}

}  // namespace
}  // namespace echoform
