// Senders that come and go, and a second one where there is one already.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "proto/acquisition.pb.h"
#include "tests/faults/server_bench.hpp"
#include "tests/support/captured_log.hpp"

namespace echoform::faults {
namespace {

using namespace testing_support;
using testing::HasSubstr;

class Connections : public OnBackends {};
ECHOFORM_ON_BACKENDS(Connections);

std::uint64_t open_connections(ServerBench& bench) {
  return bench.server->source().counters().connections_open;
}

TEST_P(Connections, ReconnectStorm) {
  ServerBench bench(GetParam());
  const Acquisition acquisition = base_acquisition();
  const Books before = bench.books();
  constexpr std::uint64_t times = 100;
  for (std::uint64_t turn = 1; turn <= times; ++turn) {
    const auto peer = bench.accepted_peer(acquisition, turn);
    bench.send_and_wait(*peer, shot_of(acquisition, 1, 0));
    ASSERT_TRUE(bench.reaches([&] { return bench.books().frames.frames_in_flight == 1; }));
    peer->close();
    ASSERT_TRUE(bench.reaches([&] { return open_connections(bench) == 0; }));
  }
  bench.expect_change(before,
                      {.received = times, .dropped = {{DropReason::incomplete, times}}, .accepted = times, .lost = times});
  // The same acquisition every time: the engine was made once.
  EXPECT_EQ(bench.engines_made, 1);
  bench.expect_good_sender();
}

// Beside a sender at work, without waiting for anything: every connection has exactly one outcome.
TEST_P(Connections, ReconnectStormBesideASender) {
  Configuration configuration = base_configuration(GetParam());
  configuration.input.max_connections = 4;
  ServerBench bench(configuration);
  const Acquisition acquisition = base_acquisition();
  GoodSender good(bench, acquisition);
  good.send(1, 1);
  ASSERT_TRUE(bench.published(1));
  const Books before = bench.books();
  constexpr std::uint64_t times = 200;
  std::vector<std::uint64_t> sequences{1};
  for (std::uint64_t turn = 0; turn < times; ++turn) {
    RawPeer peer(bench.port());
    if (turn % 2 == 0) peer.send(hello_message(acquisition, 100 + turn));
    if (turn % 10 == 0) {
      good.send(2 + turn / 10, 1);
      sequences.push_back(2 + turn / 10);
    }
  }
  ASSERT_TRUE(bench.reaches([&] { return open_connections(bench) == 1; }));
  bench.expect_change(before, {.received = 20, .published = 20, .rejected = times});
  good.finish();
  bench.expect_images(acquisition, sequences);
}

TEST_P(Connections, SecondSender) {
  BusyServer bench(GetParam());
  RawPeer second(bench.port());
  second.send(hello_message(bench.acquisition, 8));
  std::string header;
  ASSERT_EQ(second.receive(header), static_cast<std::uint16_t>(MessageType::reject));
  wire::Reject reject;
  ASSERT_TRUE(reject.ParseFromString(header));
  EXPECT_EQ(reject.reason(), "acquisition stream: another sender is active");
  EXPECT_TRUE(reject.retry());
  EXPECT_TRUE(second.closed());
  // Of one that could never be served nothing is looked at as long as another sends.
  RawPeer third(bench.port());
  third.send(hello_message(make_acquisition(300, 96), 9));
  ASSERT_EQ(third.receive(header), static_cast<std::uint16_t>(MessageType::reject));
  ASSERT_TRUE(reject.ParseFromString(header));
  EXPECT_EQ(reject.reason(), "acquisition stream: another sender is active");
  EXPECT_TRUE(reject.retry());
  bench.good.send(3, 2);
  bench.good.finish();
  bench.expect_change(bench.before, {.received = 2, .published = 2, .rejected = 2});
  bench.expect_images(bench.acquisition, {1, 2, 3, 4});
}

TEST_P(Connections, HellosWhoseEventsContradictThem) {
  BusyServer bench(GetParam());
  wire::Hello events = testing_support::wire_hello(bench.acquisition, 8);
  events.set_matrix(wire::EVENTS);
  const std::string none = events.SerializeAsString();
  // Two bytes each on the wire, and some fifty once they are messages.
  std::string flood = none;
  for (int i = 0; i < 500'000; ++i) flood += std::string("\x72\x00", 2);
  events.add_events()->set_element(static_cast<std::uint32_t>(bench.acquisition.elements()));
  const std::string stranger = events.SerializeAsString();
  events.mutable_events(0)->set_element(1);
  *events.add_events() = events.events(0);
  const std::string twice = events.SerializeAsString();
  events.mutable_events(1)->clear_form();
  const std::string formless = events.SerializeAsString();
  // Of a form that is to come, beside one that is known.
  events.mutable_events(1)->set_element(0);
  wire::TransmitEvent::GetReflection()->MutableUnknownFields(events.mutable_events(1))->AddVarint(13, 1);
  const std::string newer = events.SerializeAsString();
  const auto with_event = [&](const auto& state) {
    events.clear_events();
    state(*events.add_events());
    return events.SerializeAsString();
  };
  const std::string contradiction = with_event([](wire::TransmitEvent& event) {
    event.mutable_law()->add_elements(0);
    event.mutable_law()->add_delays(0.0F);
    event.mutable_law()->add_delays(0.0F);
  });
  const std::string both_signs = with_event([](wire::TransmitEvent& event) {
    event.mutable_code()->set_positive("\x01");
    event.mutable_code()->set_negative("\x01");
  });
  const std::string late = with_event([](wire::TransmitEvent& event) { event.mutable_plane_wave()->set_delay(2.0); });
  const std::string foreign = with_event([](wire::TransmitEvent& event) {
    wire::PlaneWave& wave = *event.mutable_plane_wave();
    wire::PlaneWave::GetReflection()->MutableUnknownFields(&wave)->AddFixed32(1, 7);
  });
  const std::vector<std::pair<std::string, std::string>> refusals{
      {none, "Hello events: found 0 with matrix 4 (EVENTS)"},
      {flood, "Hello events: found 500000; expected at most 4096"},
      {stranger, "Hello event 0: found element"},
      {twice, "Hello event 1: found element 1 again"},
      {formless, "Hello event 1: found none of the forms"},
      {newer, "Hello event 1: found a form that this server does not know"},
      {contradiction, "Hello event 0: found 2 delays of 1 elements; expected as many, or none"},
      {both_signs, "Hello event 0 code"},
      {late, "Hello event 0: found a delay of 2 s"},
      {foreign, "Hello event 0: found slowness_x in another wire type than its own; expected a double"},
  };
  bench.good.finish();
  ASSERT_TRUE(bench.reaches([&] { return open_connections(bench) == 0; }));
  for (const auto& [header, line] : refusals) {
    RawPeer peer(bench.port());
    peer.send(testing_support::raw_message(1, header, 0));
    std::string answer;
    ASSERT_EQ(peer.receive(answer), static_cast<std::uint16_t>(MessageType::reject)) << line;
    wire::Reject reject;
    ASSERT_TRUE(reject.ParseFromString(answer));
    EXPECT_THAT(reject.reason(), testing::StartsWith(line));
    EXPECT_FALSE(reject.retry());
    EXPECT_TRUE(peer.closed());
  }
  bench.expect_change(bench.before, {.decode_errors = {{DecodeReason::bad_hello, 10}}, .rejected = 10});
  bench.expect_images(bench.acquisition, {1, 2});
}

TEST_P(Connections, SecondSenderThatComesAgain) {
  ServerBench bench(GetParam());
  const Acquisition acquisition = base_acquisition();
  const Books before = bench.books();
  GoodSender first(bench, acquisition);
  first.send(1, 2);
  std::vector<std::chrono::milliseconds> pauses;
  SenderOptions options;
  options.port = bench.port();
  options.pause = [&](std::chrono::milliseconds time) {
    pauses.push_back(time);
    if (pauses.size() == 3) first.finish();
  };
  AcquisitionSender second(acquisition, options);
  second.send_frame({11, WallTime(1)}, frame_of(acquisition, 11));
  second.finish();
  EXPECT_EQ(pauses, (std::vector<std::chrono::milliseconds>{std::chrono::milliseconds(50), std::chrono::milliseconds(100),
                                                            std::chrono::milliseconds(200)}));
  bench.expect_change(before, {.received = 3, .published = 3, .accepted = 2, .rejected = 3});
  bench.expect_images(acquisition, {1, 2, 11});
}

TEST_P(Connections, SecondSenderThatGivesUp) {
  BusyServer bench(GetParam());
  std::chrono::milliseconds waited{0};
  SenderOptions options;
  options.port = bench.port();
  options.connections = 2;
  options.pause = [&](std::chrono::milliseconds time) { waited += time; };
  try {
    const AcquisitionSender second(bench.acquisition, options);
    FAIL() << "accepted";
  } catch (const ServerBusy& error) {
    EXPECT_THAT(error.what(), HasSubstr("rejected the Hello: acquisition stream: another sender is active"));
  }
  EXPECT_EQ(waited, options.busy_timeout);
  // 50, 100, 200, 400, 800, 1000, 1000, 1000 and 450 ms: ten attempts on two connections.
  bench.expect_change(bench.before, {.rejected = 20});
  bench.good.send(3, 1);
  bench.good.finish();
  bench.expect_change(bench.before, {.received = 1, .published = 1, .rejected = 20});
  bench.expect_images(bench.acquisition, {1, 2, 3});
}

// A sender that is killed while the server holds it back: what it had sent is still to be read, so the next sender finds the
// stream taken. It is told to come again, and nothing that had been sent is lost.
TEST_P(Connections, KilledWhileHeldBack) {
  Configuration configuration = base_configuration(GetParam());
  configuration.input.slots = 2;
  ServerBench bench(configuration);
  const Acquisition acquisition = base_acquisition();
  const Books before = bench.books();
  bench.gate.close();
  {
    const auto killed = bench.accepted_peer(acquisition, 7);
    Bytes all;
    for (std::uint64_t sequence = 1; sequence <= 6; ++sequence) all = std::move(all) + frame_message(acquisition, sequence);
    killed->send(all);
    ASSERT_TRUE(bench.reaches([&] { return bench.books().frames.frames_in_flight == 2; }));
  }
  SenderOptions options;
  options.port = bench.port();
  options.pause = [&](std::chrono::milliseconds) {
    EXPECT_EQ(open_connections(bench), 1U);
    bench.gate.open();
    EXPECT_TRUE(bench.reaches([&] { return open_connections(bench) == 0; }));
  };
  AcquisitionSender second(acquisition, options);
  second.send_frame({11, WallTime(1)}, frame_of(acquisition, 11));
  second.finish();
  bench.expect_change(before, {.received = 7, .published = 7, .accepted = 2, .rejected = 1, .lost = 1});
  bench.expect_images(acquisition, {1, 2, 3, 4, 5, 6, 11});
}

TEST_P(Connections, TooMany) {
  Configuration configuration = base_configuration(GetParam());
  configuration.input.max_connections = 2;
  BusyServer bench(configuration, 2);
  RawPeer peer(bench.port());
  EXPECT_EQ(peer.reject_reason(), "connections: found 3 open; expected at most 2");
  bench.expect_change(bench.before, {.rejected = 1});
  bench.good.send(3, 2);
  bench.good.finish();
  bench.expect_change(bench.before, {.received = 2, .published = 2, .rejected = 1});
  bench.expect_images(bench.acquisition, {1, 2, 3, 4});
}

TEST_P(Connections, MoreThanTheShotsOfAFrameStayIdle) {
  ServerBench bench(GetParam());
  const Acquisition acquisition = base_acquisition();
  const Books before = bench.books();
  test::CapturedLog log;
  GoodSender good(bench, acquisition, acquisition.elements() + 2);
  EXPECT_THAT(log.text(), HasSubstr(fmt::format("warning: {} connections for the {} shots of a frame: 2 of them stay idle",
                                                acquisition.elements() + 2, acquisition.elements())));
  good.send(1, 3);
  good.finish();
  bench.expect_change(before, {.received = 3, .published = 3, .accepted = acquisition.elements() + 2});
  bench.expect_images(acquisition, {1, 2, 3});
}

// Those that have not introduced themselves keep nobody out.
TEST_P(Connections, SilentOnesGiveWay) {
  Configuration configuration = base_configuration(GetParam());
  configuration.input.max_connections = 2;
  ServerBench bench(configuration);
  const Acquisition acquisition = base_acquisition();
  const Books before = bench.books();
  RawPeer first(bench.port()), second(bench.port());
  ASSERT_TRUE(bench.reaches([&] { return open_connections(bench) == 2; }));
  GoodSender good(bench, acquisition, 2);
  good.send(1, 2);
  for (RawPeer* peer : {&first, &second}) {
    EXPECT_EQ(peer->reject_reason(), "Hello: found none complete while all places were taken; expected one at once");
    EXPECT_TRUE(peer->closed());
  }
  good.finish();
  bench.expect_change(before, {.received = 2, .published = 2, .accepted = 2, .rejected = 2});
  bench.expect_images(acquisition, {1, 2});
}

}  // namespace
}  // namespace echoform::faults
