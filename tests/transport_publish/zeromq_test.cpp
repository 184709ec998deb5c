#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <optional>

#include "base/errors.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/patience.hpp"
#include "tests/transport_publish/synthetic_stream.hpp"
#include "tests/transport_publish/thread_allocations.hpp"
#include "transport/publish/image_message.hpp"
#include "transport/publish/subscriber.hpp"
#include "transport/publish/zeromq_sink.hpp"
#include "transport/zeromq/socket.hpp"

namespace echoform {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

std::unique_ptr<ZeromqSink> open_sink(const synthetic::Stream& stream) {
  auto sink = make_zeromq_sink({.port = 0});
  sink->setup_changed(stream.setup());
  return sink;
}

SubscriberOptions to(const ZeromqSink& sink, std::string name, bool latest_only = false) {
  return {.endpoint = sink.endpoint(), .stream = std::move(name), .latest_only = latest_only};
}

// A subscription takes a moment to reach the publisher: sends frames of sequence 0 until one arrives, then whatever is
// still on its way.
void join(ZeromqSink& sink, synthetic::Stream& stream, ImageSubscriber& subscriber) {
  EXPECT_TRUE(eventually([&] {
    sink.publish(stream.frame(0));
    return subscriber.receive(10ms) != nullptr;
  }));
  while (subscriber.receive(50ms) != nullptr) {
  }
  ASSERT_GT(subscriber.statistics().images, 0u);
}

TEST(ImageSubscriber, SelectsItsStreamByPrefix) {
  synthetic::Shape shape;
  shape.views = {"LL", "TT"};
  synthetic::Stream stream(shape);
  const auto sink = open_sink(stream);
  ImageSubscriber envelope(to(*sink, "echoform/TT")), display(to(*sink, "echoform/TT.display"));
  join(*sink, stream, envelope);
  join(*sink, stream, display);
  while (envelope.receive(50ms) != nullptr) {
  }
  for (std::uint64_t sequence = 1; sequence <= 5; ++sequence) {
    sink->publish(stream.frame(sequence));
    const wire::Image* image = envelope.receive(patience);
    ASSERT_NE(image, nullptr);
    EXPECT_EQ(image->stream(), "echoform/TT");
    EXPECT_EQ(image->sequence(), sequence);
    image = display.receive(patience);
    ASSERT_NE(image, nullptr);
    EXPECT_EQ(image->stream(), "echoform/TT.display");
    EXPECT_EQ(image->sequence(), sequence);
  }
}

TEST(ImageSubscriber, ANumberingThatBeginsAnewIsNoGap) {
  synthetic::Stream stream;
  const auto sink = open_sink(stream);
  ImageSubscriber subscriber(to(*sink, "echoform"));
  join(*sink, stream, subscriber);
  const auto before = subscriber.statistics();
  const std::uint64_t far = std::uint64_t{1} << 40;
  // Far ahead, on by one over the wrap (with one left out), far back.
  for (const std::uint64_t sequence : {far, ~std::uint64_t{0} - 1, ~std::uint64_t{0}, std::uint64_t{1}, far}) {
    sink->publish(stream.frame(sequence));
    ASSERT_NE(subscriber.receive(patience), nullptr);
  }
  const auto after = subscriber.statistics();
  EXPECT_EQ(after.sequences - before.sequences, 5u);
  EXPECT_EQ(after.gaps - before.gaps, 1u);
  EXPECT_EQ(after.restarts - before.restarts, 3u);
}

TEST(ImageSubscriber, CountsGapsRepeatsAndRestarts) {
  synthetic::Stream stream;
  const auto sink = open_sink(stream);
  ImageSubscriber subscriber(to(*sink, "echoform"));
  join(*sink, stream, subscriber);
  const auto before = subscriber.statistics();
  for (const std::uint64_t sequence : {1, 2, 2, 5, 6, 3}) {  // 3 and 4 are missing; then the source begins anew
    sink->publish(stream.frame(sequence));
    ASSERT_NE(subscriber.receive(patience), nullptr);
  }
  const auto after = subscriber.statistics();
  EXPECT_EQ(after.images - before.images, 6u);
  EXPECT_EQ(after.sequences - before.sequences, 5u);
  EXPECT_EQ(after.gaps - before.gaps, 2u);
  EXPECT_EQ(after.restarts - before.restarts, 1u);
  EXPECT_EQ(after.malformed, 0u);
  EXPECT_EQ(after.latency_p50, 4ms);
  EXPECT_EQ(after.latency_p99, 4ms);
  EXPECT_GT(after.images_per_second, 0.0);
}

// A probe that stands still: a scan shows the same image again, and that is no image more.
TEST(ImageSubscriber, TheSameImageAgainIsNoneMoreASecond) {
  synthetic::Stream stream;
  const auto sink = open_sink(stream);
  ImageSubscriber subscriber(to(*sink, "echoform"));
  join(*sink, stream, subscriber);
  const auto before = subscriber.statistics();
  const auto counted = [&] {
    const auto now = subscriber.statistics();
    return std::lround(now.images_per_second * now.seconds - before.images_per_second * before.seconds);
  };
  const auto receive = [&](std::uint64_t sequence, std::optional<std::uint64_t> cells) {
    stream.slot().scan_cells = cells;
    sink->publish(stream.frame(sequence));
    const wire::Image* const image = subscriber.receive(patience);
    ASSERT_NE(image, nullptr);
    EXPECT_EQ(image->has_scan_places(), cells.has_value());
    EXPECT_EQ(image->scan_places(), cells.value_or(0));
  };
  receive(1, 7);
  EXPECT_EQ(counted(), 1) << "a scan begins";
  receive(2, 7);
  receive(3, 7);
  EXPECT_EQ(counted(), 1);
  EXPECT_EQ(subscriber.statistics().unchanged, 2u);
  receive(9, 8);
  EXPECT_EQ(counted(), 2) << "another place";
  receive(10, 0);
  receive(11, 0);
  EXPECT_EQ(counted(), 3) << "cleared, and nothing since";
  receive(12, std::nullopt);
  receive(13, std::nullopt);
  EXPECT_EQ(counted(), 5) << "no scan";
  EXPECT_EQ(subscriber.statistics().unchanged, 3u);
}

TEST(ImageSubscriber, LatestOnlyReadsTheNewest) {
  synthetic::Stream stream;
  const auto sink = open_sink(stream);
  ImageSubscriber latest(to(*sink, "echoform", true)), every(to(*sink, "echoform"));
  join(*sink, stream, latest);
  join(*sink, stream, every);
  while (latest.receive(50ms) != nullptr) {
  }
  for (std::uint64_t sequence = 1; sequence <= 50; ++sequence) {
    sink->publish(stream.frame(sequence));
    ASSERT_NE(every.receive(patience), nullptr);
  }
  // Messages of one publisher to two subscribers have no order between them, so read until the last.
  std::uint64_t last = 0;
  int reads = 0;
  while (last != 50) {
    const wire::Image* image = latest.receive(patience);
    ASSERT_NE(image, nullptr);
    last = image->sequence();
    ++reads;
  }
  EXPECT_LT(reads, 50);
  EXPECT_EQ(latest.statistics().gaps, 50u - static_cast<unsigned>(reads));
}

TEST(ZeromqSink, StuckSubscribersTakeNothingFromAFastOne) {
  synthetic::Shape shape;
  shape.grid.x.count = shape.grid.z.count = 256;  // 256 KiB an image: more than socket buffers swallow for long
  synthetic::Stream stream(shape);
  auto sink = make_zeromq_sink({.port = 0, .bytes_per_subscriber = 4 << 20});
  sink->setup_changed(stream.setup());
  zmq::context_t context;
  std::vector<zmq::socket_t> stuck;
  for (int i = 0; i < 3; ++i) stuck.push_back(connect_subscriber(context, sink->endpoint(), stream_prefix("echoform"), 1 << 30));
  for (auto& socket : stuck) socket.set(zmq::sockopt::rcvtimeo, 10);
  for (auto& socket : stuck) {
    zmq::message_t message;
    int tries = 0;
    for (; tries < 1000 && !socket.recv(message); ++tries) sink->publish(stream.frame(0));
    ASSERT_LT(tries, 1000);
  }
  ImageSubscriber fast(to(*sink, "echoform"));
  join(*sink, stream, fast);
  const auto before = fast.statistics();
  for (std::uint64_t sequence = 1; sequence <= 300; ++sequence) {
    sink->publish(stream.frame(sequence));
    const wire::Image* image = fast.receive(patience);
    ASSERT_NE(image, nullptr) << sequence;
    ASSERT_EQ(image->sequence(), sequence);
  }
  EXPECT_EQ(fast.statistics().gaps, before.gaps);

  // Each stuck one still reads images: fewer, and it sees the gap.
  for (auto& socket : stuck) {
    zmq::message_t message;
    std::size_t kept = 0;
    while (socket.recv(message)) ++kept;
    EXPECT_LT(kept, 300u);
  }
}

TEST(ZeromqSink, SubscribersMayLeaveWhileThePlanChanges) {
  synthetic::Shape large;
  large.grid.x.count = large.grid.z.count = 256;
  synthetic::Stream one;
  synthetic::Stream other(large);
  auto sink = open_sink(one);
  for (int round = 0; round < 20; ++round) {
    {
      ImageSubscriber leaving(to(*sink, "echoform"));
      join(*sink, one, leaving);
    }
    // Between its leaving and libzmq's last word of it, images are published and the plan is another.
    for (int frame = 0; frame < 100; ++frame) sink->publish(one.frame(1));
    sink->setup_changed(other.setup());
    for (int frame = 0; frame < 10; ++frame) sink->publish(other.frame(1));
    sink->setup_changed(one.setup());
  }
  ImageSubscriber last(to(*sink, "echoform"));
  join(*sink, one, last);
}

TEST(ZeromqSink, PublishingAllocatesNothingOfItsOwn) {
  synthetic::Stream stream;
  const auto sink = open_sink(stream);
  ImageSubscriber subscriber(to(*sink, "echoform"));
  join(*sink, stream, subscriber);
  std::size_t allocations = 0;
  for (std::uint64_t sequence = 1; sequence <= 100; ++sequence) {
    const FinishedFrame frame = stream.frame(sequence);
    const std::size_t before = thread_allocations();
    sink->publish(frame);
    allocations += thread_allocations() - before;
    ASSERT_NE(subscriber.receive(patience), nullptr);
  }
  EXPECT_EQ(allocations, 0u);
}

TEST(ZeromqSink, WantsEnvelopesWhileSomebodySubscribesToThem) {
  synthetic::Stream stream;
  const auto sink = open_sink(stream);
  EXPECT_FALSE(sink->wants_envelope());
  const auto becomes = [&](bool wanted) { return eventually([&] { return sink->wants_envelope() == wanted; }); };
  ImageSubscriber display(to(*sink, "echoform.display"));
  join(*sink, stream, display);
  EXPECT_FALSE(sink->wants_envelope());
  {
    const ImageSubscriber envelope(to(*sink, "echoform"));
    EXPECT_TRUE(becomes(true)) << "without a frame in between";
  }
  EXPECT_TRUE(becomes(false));
  zmq::context_t context;
  const zmq::socket_t everything = connect_subscriber(context, sink->endpoint(), "", 1 << 20);
  EXPECT_TRUE(becomes(true)) << "no prefix is all streams";
}

TEST(ZeromqSink, SendsNoEnvelopeThatAFrameDoesNotHold) {
  synthetic::Stream stream;
  const auto sink = open_sink(stream);
  ImageSubscriber envelope(to(*sink, "echoform"));
  join(*sink, stream, envelope);
  stream.slot().envelope_wanted = false;
  sink->publish(stream.frame(1));
  stream.slot().envelope_wanted = true;
  sink->publish(stream.frame(2));
  const wire::Image* image = envelope.receive(patience);
  ASSERT_NE(image, nullptr);
  EXPECT_EQ(image->sequence(), 2U);
}

TEST(ZeromqSink, NewPlanGivesNewGeometry) {
  synthetic::Stream stream;
  const auto sink = open_sink(stream);
  ImageSubscriber subscriber(to(*sink, "echoform"));
  join(*sink, stream, subscriber);
  synthetic::Shape larger;
  larger.grid.x.count = 200;
  synthetic::Stream second(larger);
  sink->setup_changed(second.setup());
  sink->publish(second.frame(1));
  const wire::Image* image = subscriber.receive(patience);
  ASSERT_NE(image, nullptr);
  EXPECT_EQ(image->x().count(), 200u);
}

TEST(ZeromqSink, PortInUseIsARuntimeFaultThatNamesIt) {
  synthetic::Stream stream;
  const auto sink = open_sink(stream);
  try {
    (void)make_zeromq_sink({.port = sink->port()});
    FAIL();
  } catch (const RuntimeFault& fault) {
    EXPECT_THAT(fault.what(), HasSubstr(sink->endpoint() + ": the port is in use"));
  }
}

TEST(ZeromqSink, BadAddressesAndNamesAreInputErrors) {
  EXPECT_THROW((void)make_zeromq_sink({.address = "nowhere", .port = 0}), InputError);
  EXPECT_THROW((void)make_zeromq_sink({.name = "a b", .port = 0}), InputError);
  EXPECT_THROW(ImageSubscriber({.endpoint = "127.0.0.1"}), InputError);
}

TEST(ZeromqSink, ServesIPv6) {
  synthetic::Stream stream;
  std::unique_ptr<ZeromqSink> sink;
  try {
    sink = make_zeromq_sink({.address = "::1", .port = 0});
  } catch (const RuntimeFault&) {
    GTEST_SKIP() << "no IPv6 loopback here";
  }
  sink->setup_changed(stream.setup());
  EXPECT_THAT(sink->endpoint(), HasSubstr("tcp://[::1]:"));
  ImageSubscriber subscriber(to(*sink, "echoform"));
  join(*sink, stream, subscriber);
}

TEST(ImageSubscriber, SkipsAndCountsWhatIsMalformed) {
  ZeromqContext context;
  zmq::socket_t publisher = bind_publisher(context, "127.0.0.1", 0, 1000, "test");
  ImageSubscriber subscriber(
      {.endpoint = tcp_endpoint("127.0.0.1", bound_port(publisher)), .stream = "echoform", .latest_only = false});
  synthetic::Stream stream;
  ImageMessageWriter writer("echoform");
  writer.set_setup(*stream.setup());
  const auto good = [&](std::uint64_t sequence) {
    zmq::message_t message(writer.prepare(stream.frame(sequence), 0));
    writer.write({static_cast<std::byte*>(message.data()), message.size()});
    return message;
  };
  for (int i = 0; i < 1000 && subscriber.receive(10ms) == nullptr; ++i) (void)publisher.send(good(0), zmq::send_flags::none);
  while (subscriber.receive(50ms) != nullptr) {
  }
  ASSERT_EQ(subscriber.statistics().malformed, 0u);

  const std::string prefix = stream_prefix("echoform");
  for (const std::string& tail : {std::string(), std::string("\xFF\xFF\xFF"), std::string("\x10\x01"),
                                  std::string("\xA2\x06\x7F"), std::string(100'000, '\0')}) {
    (void)publisher.send(zmq::buffer(prefix + tail), zmq::send_flags::none);
  }
  (void)publisher.send(good(1), zmq::send_flags::sndmore);  // two parts
  (void)publisher.send(zmq::buffer(std::string("more")), zmq::send_flags::none);
  (void)publisher.send(good(2), zmq::send_flags::none);
  const wire::Image* image = subscriber.receive(patience);
  ASSERT_NE(image, nullptr);
  EXPECT_EQ(image->sequence(), 2u);
  EXPECT_EQ(subscriber.statistics().malformed, 6u);  // a message of two parts is one
  EXPECT_EQ(subscriber.statistics().messages, 6u + subscriber.statistics().images);
  EXPECT_EQ(subscriber.last_fault(), "more than one part");
}

/// A publisher that may send anything, to whoever has subscribed.
struct AnyPublisher {
  AnyPublisher() : socket(bind_publisher(context, "127.0.0.1", 0, 100000, "test")) {
    socket.set(zmq::sockopt::rcvtimeo, static_cast<int>(std::chrono::milliseconds(patience).count()));
    endpoint = tcp_endpoint("127.0.0.1", bound_port(socket));
  }
  /// Once somebody has subscribed.
  void await_subscriber() {
    zmq::message_t subscription;
    ASSERT_TRUE(socket.recv(subscription));
  }
  void send(const std::vector<std::string>& parts) {
    for (std::size_t k = 0; k < parts.size(); ++k) {
      static_cast<void>(
          socket.send(zmq::buffer(parts[k]), k + 1 < parts.size() ? zmq::send_flags::sndmore : zmq::send_flags::none));
    }
  }
  ZeromqContext context;
  zmq::socket_t socket;
  std::string endpoint;
};

/// Of many parts, which take a while to come: somebody reads the first before the last is there.
std::vector<std::string> long_message(const std::string& first) {
  std::vector<std::string> parts(200, std::string(60'000, 'x'));
  parts.front() = first;
  return parts;
}

std::string image_bytes(std::uint64_t sequence) {
  synthetic::Stream stream;
  ImageMessageWriter writer("echoform");
  writer.set_setup(*stream.setup());
  std::string bytes(writer.prepare(stream.frame(sequence), 0), '\0');
  writer.write(std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

TEST(ImageSubscriber, OfTheNewestDropsAndCountsMessagesOfSeveralParts) {
  AnyPublisher publisher;
  ImageSubscriber subscriber({.endpoint = publisher.endpoint, .stream = "echoform", .latest_only = true});
  publisher.await_subscriber();
  const std::string prefix = stream_prefix("echoform");
  publisher.send(long_message(prefix));
  publisher.send(long_message(image_bytes(1)));
  publisher.send({image_bytes(2)});
  const wire::Image* const image = subscriber.receive(patience);
  ASSERT_NE(image, nullptr);
  EXPECT_EQ(image->sequence(), 2u);
  EXPECT_EQ(subscriber.statistics().malformed, 2u);
  EXPECT_EQ(subscriber.statistics().messages, 3u);
  EXPECT_EQ(subscriber.last_fault(), "more than one part");
  // It goes on, and what follows a good image does not take its place.
  publisher.send({image_bytes(3)});
  publisher.send({prefix, "two parts"});
  for (int look = 0; look < 1000 && subscriber.statistics().malformed < 3; ++look) static_cast<void>(subscriber.receive(10ms));
  EXPECT_EQ(subscriber.statistics().malformed, 3u);
  EXPECT_EQ(subscriber.statistics().images, 2u);
  EXPECT_EQ(subscriber.receive(0ms), nullptr);
}

TEST(ImageSubscriber, OfTheNewestSkipsWhatCameMeanwhile) {
  AnyPublisher publisher;
  ImageSubscriber subscriber({.endpoint = publisher.endpoint, .stream = "echoform", .latest_only = true});
  publisher.await_subscriber();
  constexpr std::uint64_t last = 200;
  for (std::uint64_t sequence = 1; sequence <= last; ++sequence) publisher.send({image_bytes(sequence)});
  std::uint64_t first = 0, before = 0;
  while (before < last) {
    const wire::Image* const image = subscriber.receive(patience);
    ASSERT_NE(image, nullptr) << "after " << before;
    ASSERT_GT(image->sequence(), before);
    before = image->sequence();
    if (first == 0) first = before;
  }
  EXPECT_EQ(subscriber.statistics().gaps + subscriber.statistics().sequences, last - first + 1) << "each is seen or missed";
  EXPECT_EQ(subscriber.statistics().restarts, 0U);
}

TEST(TelemetrySubscriber, DropsAndCountsMessagesOfSeveralParts) {
  AnyPublisher publisher;
  TelemetrySubscriber subscriber(publisher.endpoint);
  publisher.await_subscriber();
  wire::Telemetry telemetry;
  telemetry.set_stream("echoform");
  publisher.send(long_message(telemetry.SerializeAsString()));
  telemetry.set_frames_received(7);
  publisher.send({telemetry.SerializeAsString()});
  const wire::Telemetry* const newest = subscriber.receive(patience);
  ASSERT_NE(newest, nullptr);
  EXPECT_EQ(newest->frames_received(), 7u);
  EXPECT_EQ(subscriber.malformed(), 1u);
}

}  // namespace
}  // namespace echoform
