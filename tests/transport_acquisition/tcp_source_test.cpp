// The TCP door against senders that break the rules: each is told why, counted once, and harms nobody beside it.
#include "transport/acquisition/tcp_source.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <thread>

#include "base/descriptors.hpp"
#include "base/errors.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/input_error.hpp"
#include "tests/support/process.hpp"
#include "tests/support/zmtp_peer.hpp"
#include "tests/transport_acquisition/fake_host.hpp"
#include "tests/transport_acquisition/messages.hpp"
#include "transport/acquisition/sender.hpp"
#include "transport/acquisition/zeromq_sender.hpp"

namespace echoform {
namespace {

using namespace testing_support;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;

/// A source and a sender that keeps sending frames through all that the test does.
class TcpSourceTest : public testing::Test {
 protected:
  void serve(TcpSourceOptions options = {}) {
    options.port = 0;
    options.tick = milliseconds(5);
    source_ = make_tcp_source(options);
    source_->start(host_);
    SenderOptions sender;
    sender.port = source_->port();
    sender.token = options.token;
    sender.session = good_session;
    good_sender_ = std::make_unique<AcquisitionSender>(small_acquisition(), sender);
    good_thread_ = std::thread([this] {
      const Bytes frame = random_bytes(small_acquisition().frame_bytes(), 1);
      try {
        for (std::uint64_t sequence = 1; !stop_; ++sequence) good_sender_->send_frame({sequence, WallTime(1)}, frame);
        good_sender_->finish();
      } catch (const std::exception& error) {
        good_failure_ = error.what();
      }
    });
    good_intake_ = host_.intake(good_session);
    before_ = source_->counters();
  }

  /// That exactly these changed since serve(), apart from what the good sender brings, and that the good sender goes on.
  void expect_only(std::optional<DecodeReason> reason, std::uint64_t rejected, std::uint64_t accepted,
                   std::uint64_t timed_out = 0) {
    std::array<std::uint64_t, decode_reason_count> errors = before_.decode_errors;
    if (reason) ++errors[static_cast<std::size_t>(*reason)];
    EXPECT_TRUE(eventually([&] { return source_->counters().connections_open == 1; }));
    const SourceCounters now = source_->counters();
    EXPECT_EQ(now.decode_errors, errors);
    EXPECT_EQ(now.connections_rejected - before_.connections_rejected, rejected);
    EXPECT_EQ(now.connections_accepted - before_.connections_accepted, accepted);
    EXPECT_EQ(now.connections_timed_out - before_.connections_timed_out, timed_out);
    const std::uint64_t frames = good_intake_->frames;
    EXPECT_TRUE(eventually([&] { return good_intake_->frames >= frames + 50 || !good_failure_.empty(); }));
    EXPECT_EQ(good_failure_, "");
  }

  /// Sends bytes on a new connection and expects a Reject.
  void expect_reject(const Bytes& bytes, const std::string& text, bool accepted_first = false) {
    RawPeer peer(source_->port());
    peer.send(bytes);
    if (accepted_first) {
      EXPECT_TRUE(peer.accepted());
    }
    EXPECT_THAT(peer.reject_reason(), HasSubstr(text));
    EXPECT_TRUE(peer.closed());
  }

  void TearDown() override {
    stop_ = true;
    if (good_thread_.joinable()) good_thread_.join();
    EXPECT_EQ(good_failure_, "");
    if (source_) source_->stop();
    for (const std::uint64_t session : {good_session, std::uint64_t{7}}) {
      const auto intake = host_.intake(session);
      if (!intake) continue;
      EXPECT_EQ(intake->lanes(), 0U);
      EXPECT_EQ(intake->shots_open(), 0U);
    }
  }

  static constexpr std::uint64_t good_session = 1000;
  FakeHost host_;
  std::unique_ptr<TcpSource> source_;
  std::unique_ptr<AcquisitionSender> good_sender_;
  std::thread good_thread_;
  std::atomic<bool> stop_{false};
  std::string good_failure_;
  std::shared_ptr<FakeIntake> good_intake_;
  SourceCounters before_;
};

struct BadStream {
  const char* name;
  DecodeReason reason;
  bool accepted_first;
  const char* text;
  Bytes (*make)();
};

class TcpSourceRefuses : public TcpSourceTest, public testing::WithParamInterface<BadStream> {};

TEST_P(TcpSourceRefuses, OneBadSenderBesideAGoodOne) {
  serve();
  expect_reject(GetParam().make(), GetParam().text, GetParam().accepted_first);
  expect_only(GetParam().reason, GetParam().accepted_first ? 0 : 1, GetParam().accepted_first ? 1 : 0);
}

Bytes hello() {
  return hello_message(small_acquisition());
}
Bytes changed_hello(void (*change)(wire::Hello&)) {
  wire::Hello message = wire_hello(small_acquisition());
  change(message);
  return hello_message(message);
}

INSTANTIATE_TEST_SUITE_P(
    Streams, TcpSourceRefuses,
    testing::Values(
        BadStream{"bad_magic", DecodeReason::bad_magic, false, "message magic: found 47 45 54 20",
                  [] { return with_prefix_field(hello(), 0, 4, 0x20544547); }},
        BadStream{"bad_version", DecodeReason::bad_version, false, "message version: found 7; expected 1",
                  [] { return with_prefix_field(hello(), 4, 2, 7); }},
        BadStream{"bad_type", DecodeReason::bad_type, false, "message type: found 77; expected 1 to 5",
                  [] { return with_prefix_field(hello(), 6, 2, 77); }},
        BadStream{"bad_checksum", DecodeReason::bad_checksum, false, "Hello checksum: found ",
                  [] {
                    auto b = hello();
                    b[40] ^= std::byte{4};
                    return b;
                  }},
        BadStream{"bad_checksum_of_a_shot", DecodeReason::bad_checksum, true, "Shot checksum: found ",
                  [] {
                    auto b = shot_message(1, 0, Bytes(128));
                    b[20] ^= std::byte{4};
                    return hello() + b;
                  }},
        BadStream{"header_length_beyond_the_limit", DecodeReason::bad_header_length, false,
                  "header length: found 4294967295; expected at most 1048576",
                  [] { return with_prefix_field(hello(), 8, 4, 0xFFFFFFFF); }},
        BadStream{"payload_length_overflows", DecodeReason::bad_payload_length, true,
                  "Shot payload (frame 1, transmit 0): found 18446744073709551615 bytes; expected 128",
                  [] { return hello() + shot_message(1, 0, {}, 0xFFFFFFFFFFFFFFFF); }},
        BadStream{"wrong_payload_length", DecodeReason::bad_payload_length, true,
                  "found 100 bytes; expected 128 (4 A-scans of 32 bytes by the Hello)",
                  [] { return hello() + shot_message(1, 0, Bytes(100)); }},
        BadStream{"geometry_contradicts_the_hello", DecodeReason::bad_payload_length, true,
                  "Shot payload (frame 1, transmit 0): found 256 bytes; expected 128 (4 A-scans of 32 bytes by the Hello)",
                  [] { return hello() + shot_message(1, 0, Bytes(256)); }},  // shots of 8 elements
        BadStream{"transmit_out_of_range", DecodeReason::bad_transmit, true,
                  "Shot transmit (frame 1): found 4; expected below the Hello's 4 elements",
                  [] { return hello() + shot_message(1, 4, Bytes(128)); }},
        BadStream{"shot_before_hello", DecodeReason::unexpected_message, false, "found a Shot (4) before the Hello",
                  [] { return shot_message(1, 0, Bytes(128)); }},
        BadStream{"second_hello", DecodeReason::unexpected_message, true, "found a second Hello (1)",
                  [] { return hello() + hello(); }},
        BadStream{"unparsable_hello", DecodeReason::bad_header, false, "Hello header: found bytes that are not this message",
                  [] { return raw_message(1, "\xff", 0); }},
        BadStream{"unparsable_shot", DecodeReason::bad_header, true, "Shot header: found bytes that are not this message",
                  [] { return hello() + raw_message(4, "\xff", 128, Bytes(128)); }},
        BadStream{
            "non_finite_sample_rate", DecodeReason::bad_hello, false, "Hello sample rate: found nan Hz",
            [] { return changed_hello([](wire::Hello& h) { h.set_sample_rate(std::numeric_limits<double>::quiet_NaN()); }); }},
        BadStream{"non_finite_position", DecodeReason::bad_hello, false, "Hello element 2: found inf m",
                  [] {
                    return changed_hello(
                        [](wire::Hello& h) { h.mutable_probe()->set_x(2, std::numeric_limits<double>::infinity()); });
                  }},
        BadStream{"sizes_beyond_the_limit", DecodeReason::bad_hello, false, "Hello samples: found 4294967295",
                  [] { return changed_hello([](wire::Hello& h) { h.set_samples(4294967295U); }); }}),
    [](const auto& instance) { return instance.param.name; });

TEST_F(TcpSourceTest, ASenderThatIsCutInMidShotLosesItsShotOnly) {
  serve();
  RawPeer peer(source_->port());
  peer.send(hello());
  ASSERT_TRUE(peer.accepted());
  auto bytes = shot_message(1, 0, Bytes(128));
  bytes.resize(bytes.size() - 50);
  peer.send(bytes);
  const auto intake = host_.intake(7);
  ASSERT_TRUE(eventually([&] { return intake->shots_open() == 1; }));
  peer.close();
  ASSERT_TRUE(eventually([&] { return intake->abandoned == 1; }));
  expect_only(DecodeReason::truncated, 0, 1);
  EXPECT_EQ(intake->frames, 0U);
}

TEST_F(TcpSourceTest, AWrongTokenIsRejectedAndCountedAsRejected) {
  TcpSourceOptions options;
  options.token = "secret";
  serve(options);
  expect_reject(hello_message(small_acquisition(),
                              {.session = 7, .connection_index = 0, .connection_count = 1, .sender = "x", .token = "sekret"}),
                "Hello token: found a wrong one");
  expect_only(std::nullopt, 1, 0);
}

TEST_F(TcpSourceTest, OneConnectionTooManyIsRejected) {
  TcpSourceOptions options;
  options.maximum_connections = 2;
  serve(options);
  RawPeer second(source_->port());
  second.send(hello());
  ASSERT_TRUE(second.accepted());
  expect_reject({}, "connections: found 3 open; expected at most 2");
  second.send(encode_message(MessageType::end, {}));
  EXPECT_TRUE(second.closed());
  expect_only(std::nullopt, 1, 1);
}

TEST_F(TcpSourceTest, PeersThatSayNothingKeepNoSenderOut) {
  TcpSourceOptions options;
  options.maximum_connections = 4;
  options.hello_timeout = milliseconds(3'600'000);  // not what ends them here
  serve(options);
  std::vector<std::unique_ptr<RawPeer>> silent;
  for (int i = 0; i < 30; ++i) {
    silent.push_back(std::make_unique<RawPeer>(source_->port()));
    if (i % 2 == 0) silent.back()->send({std::byte{0}});
  }
  RawPeer second(source_->port());
  second.send(hello());
  ASSERT_TRUE(second.accepted());
  EXPECT_THAT(silent.front()->reject_reason(), HasSubstr("found none complete while all places were taken"));
  EXPECT_TRUE(eventually([&] { return source_->peers()->refused_for(PeerRefusal::silent) == 28U; }));
  silent.clear();
  second.send(encode_message(MessageType::end, {}));
  EXPECT_TRUE(second.closed());
  EXPECT_TRUE(eventually([&] { return source_->counters().connections_open == 1; }));
  const std::uint64_t frames = good_intake_->frames;
  EXPECT_TRUE(eventually([&] { return good_intake_->frames >= frames + 50 || !good_failure_.empty(); }));
}

TEST_F(TcpSourceTest, fault_ConnectionsLeaveDescriptorsToFilesAndControl) {
  serve({});
  testing_support::ZmtpPeer newcomer;  // its own end is of the same process
  {
    const testing_support::FewDescriptors few(descriptors_for_control);
    newcomer.connect(source_->port());
    newcomer.wait_for_end();
  }
  EXPECT_EQ(source_->peers()->refused_for(PeerRefusal::no_descriptors), 1U);
  expect_only(std::nullopt, 1, 0);
}

TEST_F(TcpSourceTest, ASenderWithAWrongTokenGetsNothing) {
  TcpSourceOptions options;
  options.token = "secret";
  serve(options);
  for (const char* token : {"", "secre", "secret2", "SECRET", "sekret"}) {
    RawPeer peer(source_->port());
    Bytes bytes = hello_message(small_acquisition(),
                                {.session = 7, .connection_index = 0, .connection_count = 1, .sender = "x", .token = token});
    // Its frames follow at once, as if it had been let in.
    const Bytes frame = random_bytes(small_acquisition().frame_bytes(), 2);
    for (std::uint32_t transmit = 0; transmit < 4; ++transmit) {
      bytes = bytes + shot_message(1, transmit, shot_payload(small_acquisition(), frame, transmit));
    }
    peer.send(bytes);
    EXPECT_THAT(peer.reject_reason(), HasSubstr("Hello token: found a wrong one")) << token;
    EXPECT_TRUE(peer.closed());
  }
  expect_only(std::nullopt, 5, 0);
  EXPECT_EQ(source_->peers()->refused_for(PeerRefusal::wrong_token), 5U);
  EXPECT_EQ(source_->counters().shots_discarded, 0U);
}

TEST_F(TcpSourceTest, ASecondSenderGetsTheReasonOfThePipeline) {
  host_.single_sender = true;
  serve();
  expect_reject(hello(), "stream: found a second sender; expected one at a time");
  expect_only(std::nullopt, 1, 0);
}

/// As long as a Hello may be: laws of many elements, of which the last is none of the probe.
Bytes costly_hello() {
  Acquisition acquisition = make_acquisition(256, 16);
  std::vector<std::uint32_t> elements(230);
  for (std::size_t k = 0; k < elements.size(); ++k) elements[k] = static_cast<std::uint32_t>(k % 127);
  LawEvent law{.elements = elements};
  acquisition.events.assign(4000, {law, {0}});
  return hello_message(acquisition);
}

TEST_F(TcpSourceTest, WhileASenderIsActiveNothingOfOtherHellosIsLookedAt) {
  serve();
  host_.busy = true;
  RawPeer peer(source_->port());
  peer.send(costly_hello());
  EXPECT_EQ(peer.reject_reason(), "acquisition stream: another sender is active");
  EXPECT_TRUE(peer.closed());
  expect_only(std::nullopt, 1, 0);  // a bad Hello would be counted
}

/// Processor time in nanoseconds that the threads of this name have had; proc(5) of schedstat.
std::uint64_t time_of_threads(const std::string& name) {
  std::uint64_t sum = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string found;
    std::getline(std::ifstream(task.path() / "comm"), found);
    std::uint64_t time = 0;
    if (found == name && std::ifstream(task.path() / "schedstat") >> time) sum += time;
  }
  return sum;
}

TEST_F(TcpSourceTest, HellosAreNotReadWhereShotsAre) {
  TcpSourceOptions options;
  options.port = 0;
  source_ = make_tcp_source(options);
  source_->start(host_);
  const Bytes bytes = costly_hello();
  ASSERT_GT(bytes.size(), std::size_t{900} << 10) << "nearly as long as it may be";
  const std::uint64_t before = time_of_threads("acquisition-io");
  const std::uint64_t before_elsewhere = time_of_threads("hello-reader");
  for (int hello = 0; hello < 20; ++hello) {
    RawPeer peer(source_->port());
    peer.send(bytes);
    EXPECT_THAT(peer.reject_reason(), HasSubstr("again; expected each element once"));
  }
  const std::uint64_t where_shots_are = time_of_threads("acquisition-io") - before;
  const std::uint64_t elsewhere = time_of_threads("hello-reader") - before_elsewhere;
  // Receiving a megabyte and its checksum take a small part of the time of making a message of it; half leaves room for whatever
  // the system reckons to a thread. Where Hellos were read there, the other thread had none.
  EXPECT_LT(where_shots_are, elsewhere / 2) << elsewhere << " ns elsewhere";
}

TEST_F(TcpSourceTest, ASenderIsNotToldWhereFilesOfTheServerAre) {
  host_.hidden_refusal = "[imaging] events: found 9; expected 0 to 3";
  TcpSourceOptions options;
  options.port = 0;
  source_ = make_tcp_source(options);
  source_->start(host_);
  const test::CapturedLog log;
  RawPeer peer(source_->port());
  peer.send(hello());
  EXPECT_EQ(peer.reject_reason(), "server.toml: [imaging] events: found 9; expected 0 to 3");
  EXPECT_THAT(log.text(), HasSubstr("/etc/server.toml: [imaging] events")) << "the log says all";
  EXPECT_THAT(source_->last_rejection(), Not(HasSubstr("/etc"))) << "telemetry is for everybody";
}

TEST_F(TcpSourceTest, ASecondSenderThroughTheSenderClassIsAnInputError) {
  host_.single_sender = true;
  serve();
  SenderOptions options;
  options.port = source_->port();
  EXPECT_THAT(test::input_error([&] { const AcquisitionSender sender(small_acquisition(), options); }),
              HasSubstr("rejected the Hello: stream: found a second sender"));
  expect_only(std::nullopt, 1, 0);
}

TEST_F(TcpSourceTest, ConnectionsOfOneSenderMustAgree) {
  serve();
  const SenderIdentity first{.session = 7, .connection_index = 0, .connection_count = 2, .sender = "x", .token = {}};
  RawPeer peer(source_->port());
  peer.send(hello_message(small_acquisition(), first));
  ASSERT_TRUE(peer.accepted());
  expect_reject(hello_message(small_acquisition(), first), "Hello connection_index: found 0, which is open already");
  auto other = first;
  other.connection_index = 1;
  expect_reject(hello_message(make_acquisition(4, 17), other),
                "Hello: found an acquisition that differs from this session's other connections");
  other.connection_count = 3;
  expect_reject(hello_message(small_acquisition(), other),
                "Hello connection_count: found 3; expected 2 as on this session's other connections");
  EXPECT_EQ(source_->counters().decode_errors[static_cast<std::size_t>(DecodeReason::bad_hello)], 3U);
  peer.send(encode_message(MessageType::end, {}));
  EXPECT_TRUE(peer.closed());
}

TEST_F(TcpSourceTest, ASilentPeerIsRejectedAfterTheHelloTimeOut) {
  TcpSourceOptions options;
  options.hello_timeout = milliseconds(50);
  serve(options);
  auto half = hello();
  half.resize(half.size() / 2);
  expect_reject(half, "Hello: found none complete within 50 ms");
  expect_only(std::nullopt, 1, 0, 1);
}

TEST_F(TcpSourceTest, ASenderThatStallsWithinAShotGivesItsPlaceBack) {
  TcpSourceOptions options;
  options.stall_timeout = milliseconds(2000);  // long enough for the good sender on a busy machine
  serve(options);
  auto bytes = shot_message(1, 0, Bytes(128));
  bytes.resize(bytes.size() - 1);
  expect_reject(hello() + bytes, "connection: found no byte for 2000 ms within a message; expected the rest of it", true);
  EXPECT_EQ(host_.intake(7)->abandoned, 1U);
  EXPECT_EQ(host_.intake(7)->shots_open(), 0U);
  expect_only(std::nullopt, 0, 1, 1);
}

TEST_F(TcpSourceTest, APeerThatSendsNothingAtAllIsNotADecodeError) {
  serve();
  RawPeer peer(source_->port());
  peer.close();
  ASSERT_TRUE(eventually([&] { return source_->counters().connections_rejected == 1; }));
  expect_only(std::nullopt, 1, 0);
}

TEST_F(TcpSourceTest, AFloodOfBadPeersLeavesTheGoodOneAlone) {
  serve();
  for (int i = 0; i < 300; ++i) {
    RawPeer peer(source_->port());
    peer.send(random_bytes(64, static_cast<std::uint64_t>(i)));
  }
  ASSERT_TRUE(eventually([&] { return source_->counters().connections_rejected == 300; }));
  EXPECT_EQ(source_->counters().connections_accepted, 1U);
  const std::uint64_t frames = good_intake_->frames;
  EXPECT_TRUE(eventually([&] { return good_intake_->frames >= frames + 50; }));
}

TEST_F(TcpSourceTest, WaitingStopsReadingAndTheWakeGoesOn) {
  host_.slots = 20;  // connections of one sender may drift apart by all that is sent below
  serve();
  good_intake_->block();
  ASSERT_TRUE(eventually([&] { return good_intake_->waits > 0; }));
  const std::uint64_t frames = good_intake_->frames;
  // Another sender on the same threads is served meanwhile.
  SenderOptions options;
  options.port = source_->port();
  options.connections = 2;
  AcquisitionSender other(small_acquisition(), options);
  const Bytes frame = random_bytes(small_acquisition().frame_bytes(), 5);
  for (std::uint64_t sequence = 0; sequence < 20; ++sequence) other.send_frame({sequence, WallTime(0)}, frame);
  other.finish();
  EXPECT_TRUE(eventually([&] { return host_.intake(other.session())->frames == 20; }));
  // A source that went on reading, or that polled, would have asked again.
  EXPECT_EQ(good_intake_->waits, 1U);
  EXPECT_EQ(good_intake_->frames, frames);
  good_intake_->unblock();
  EXPECT_TRUE(eventually([&] { return good_intake_->frames > frames + 50; }));
}

TEST_F(TcpSourceTest, DiscardedShotsAreReadAndForgotten) {
  serve();
  good_intake_->discarding = true;
  const auto discarded = source_->counters().shots_discarded;
  ASSERT_TRUE(eventually([&] { return source_->counters().shots_discarded > discarded + 100; }));
  good_intake_->discarding = false;
  expect_only(std::nullopt, 0, 0);
}

TEST_F(TcpSourceTest, FramesExpireByTheSourcesTick) {
  serve();
  EXPECT_TRUE(eventually([&] { return good_intake_->expiries > 3; }));
}

TEST_F(TcpSourceTest, StoppingWhileSendersSendEndsThem) {
  serve();
  SenderOptions options;
  options.port = source_->port();
  AcquisitionSender other(small_acquisition(), options);
  stop_ = true;
  good_thread_.join();
  source_->stop();
  const Bytes frame(small_acquisition().frame_bytes());
  EXPECT_THROW(for (int i = 0; i < 1000000; ++i) other.send_frame({static_cast<std::uint64_t>(i), WallTime(0)}, frame),
               RuntimeFault);
}

TEST_F(TcpSourceTest, ASenderIsToldWhyItWasCutOff) {
  serve();
  RawPeer hidden(source_->port());  // unrelated; only to show that the reason goes to the right one
  SenderOptions options;
  options.port = source_->port();
  options.session = 7;
  AcquisitionSender sender(small_acquisition(), options);
  // Transmit is checked on this side, so the contract is broken by an intake that refuses.
  EXPECT_THROW(sender.send_shot(0, {.sequence = 1, .transmit = 4, .acquisition_time = WallTime(0)}, Bytes(128)), InputError);
  EXPECT_THROW(sender.send_shot(1, {.sequence = 1, .transmit = 0, .acquisition_time = WallTime(0)}, Bytes(128)), InputError);
  EXPECT_THROW(sender.send_shot(0, {.sequence = 1, .transmit = 0, .acquisition_time = WallTime(0)}, Bytes(127)), InputError);
  EXPECT_THROW(sender.send_frame({1, WallTime(0)}, Bytes(511)), InputError);
  sender.finish();
  EXPECT_THROW(sender.send_frame({1, WallTime(0)}, Bytes(512)), RuntimeFault);
}

TEST(TcpSource, APortInUseIsNamed) {
  FakeHost host;
  TcpSourceOptions options;
  options.port = 0;
  const auto first = make_tcp_source(options);
  first->start(host);
  options.port = first->port();
  const auto second = make_tcp_source(options);
  try {
    second->start(host);
    FAIL() << "started";
  } catch (const RuntimeFault& error) {
    EXPECT_EQ(std::string(error.what()),
              "cannot listen for acquisition on 127.0.0.1:" + std::to_string(options.port) + ": Address already in use");
  }
  EXPECT_EQ(first->describe(), "tcp 127.0.0.1:" + std::to_string(options.port));
}

TEST(TcpSource, OptionsOutOfRangeAreNamed) {
  const auto line = [](TcpSourceOptions options) { return test::input_error([&] { (void)make_tcp_source(options); }); };
  TcpSourceOptions options;
  options.address = "localhost:80";
  EXPECT_EQ(line(options), "TCP source address: found \"localhost:80\"; expected an IPv4 or IPv6 address of this machine");
  options = {};
  options.io_threads = 0;
  EXPECT_EQ(line(options), "TCP source io_threads: found 0; expected 1 to 64");
  options = {};
  options.maximum_connections = 5000;
  EXPECT_EQ(line(options), "TCP source maximum_connections: found 5000; expected 1 to 4096");
  options = {};
  options.hello_timeout = milliseconds(-1);
  EXPECT_THAT(line(options), HasSubstr("hello_timeout in ms"));
}

TEST(AcquisitionSender, SaysWhereItCannotConnect) {
  FakeHost host;
  TcpSourceOptions options;
  options.port = 0;
  std::uint16_t port = 0;
  {
    const auto source = make_tcp_source(options);
    source->start(host);
    port = source->port();
  }
  SenderOptions sender;
  sender.port = port;
  try {
    const AcquisitionSender nobody(small_acquisition(), sender);
    FAIL() << "connected";
  } catch (const RuntimeFault& error) {
    EXPECT_EQ(std::string(error.what()), "cannot connect to 127.0.0.1:" + std::to_string(port) + ": Connection refused");
  }
  sender.connections = 9;
  EXPECT_THROW(AcquisitionSender(small_acquisition(), sender), InputError);
}

TEST(AcquisitionSender, RefusesAnAcquisitionThatContradictsItselfBeforeItConnects) {
  Acquisition stranger = small_acquisition();
  stranger.events = element_events(std::vector<std::uint32_t>{static_cast<std::uint32_t>(stranger.elements())});
  const auto line = [&](auto&& make) { return test::input_error([&] { make(); }); };
  // Nobody listens: a connection would be a RuntimeFault.
  EXPECT_THAT(line([&] { const AcquisitionSender sender(stranger, {.port = 1}); }),
              HasSubstr("acquisition event 0: found element"));
  EXPECT_THAT(line([&] { const ZeromqSender sender(stranger, {.port = 1}); }), HasSubstr("acquisition event 0: found element"));
}

/// Stands still. Whoever asks for the time first waits until somebody lets him go.
class HeldClock final : public Clock {
 public:
  SteadyTime steady() const noexcept override {
    std::call_once(first_, [this] { let_go_.get_future().wait(); });
    return SteadyTime(1);
  }
  WallTime wall() const noexcept override { return WallTime(1); }
  void let_go() { let_go_.set_value(); }

 private:
  mutable std::once_flag first_;
  mutable std::promise<void> let_go_;
};

TEST(TcpSourceLog, APeerThatHasResetItsConnectionIsNamedByItsAddress) {
  const test::CapturedLog log;
  HeldClock clock;
  FakeHost host;
  TcpSourceOptions options;
  options.port = 0;
  options.tick = std::chrono::seconds(10);  // asks for the time too; the longest there is
  const auto source = make_tcp_source(options, clock);
  source->start(host);
  boost::asio::io_context context;
  boost::asio::ip::tcp::socket peer(context);
  peer.connect({boost::asio::ip::make_address("127.0.0.1"), source->port()});
  const std::string address = "127.0.0.1:" + std::to_string(peer.local_endpoint().port());
  boost::asio::write(peer, boost::asio::buffer(Bytes(prefix_bytes, std::byte{'x'})));
  peer.set_option(boost::asio::socket_base::linger(true, 0));
  peer.close();  // a reset, which finds the server between accepting the connection and looking at it
  clock.let_go();
  EXPECT_TRUE(eventually([&] { return log.text().find("message magic: found 78 78 78 78") != std::string::npos; })) << log.text();
  EXPECT_THAT(log.text(), HasSubstr(address + ": "));
  EXPECT_THAT(log.text(), testing::Not(HasSubstr("0.0.0.0:0")));
  source->stop();
}

TEST(TcpSourceLog, HowTheConnectionOfASenderEndedIsSaidInPlainWords) {
  const auto told = [](const std::string& line, void (*leave)(RawPeer&)) {
    const test::CapturedLog log;
    FakeHost host;
    TcpSourceOptions options;
    options.port = 0;
    const auto source = make_tcp_source(options);  // of many that leave in a second only the first is told
    source->start(host);
    RawPeer peer(source->port());
    peer.send(hello_message(small_acquisition()));
    EXPECT_TRUE(peer.accepted());
    leave(peer);
    EXPECT_TRUE(eventually([&] { return log.text().find(line) != std::string::npos; })) << log.text();
    source->stop();
  };
  told("sender \"test\" left without an End: the connection was closed\n", [](RawPeer& peer) { peer.close(); });
  told("sender \"test\" left without an End: the connection failed (Connection reset by peer)\n",
       [](RawPeer& peer) { peer.reset(); });
  told("connection: found its end within a message (the connection was closed); expected the rest of it", [](RawPeer& peer) {
    peer.send(Bytes(10, std::byte{'E'}));
    peer.close();
  });
}

}  // namespace
}  // namespace echoform
