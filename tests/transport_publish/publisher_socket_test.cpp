// What subscribers cause is done on the socket's own thread; whoever publishes hands over and goes on.
#include "transport/publish/publisher_socket.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/sanitizers.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/zmtp_peer.hpp"
#include "tests/transport_publish/synthetic_stream.hpp"
#include "tests/transport_publish/thread_allocations.hpp"
#include "transport/publish/telemetry_publisher.hpp"
#include "transport/publish/zeromq_sink.hpp"
#include "transport/zeromq/socket.hpp"

namespace echoform {
namespace {

using namespace std::chrono_literals;
using testing_support::ZmtpPeer;

MessageBuffer& message_of(std::string_view text) {
  MessageBuffer& buffer = MessageBuffer::for_one_message(text.size());
  std::memcpy(buffer.message().data(), text.data(), text.size());
  return buffer;
}

// A ring that falls between the wait's time-out and the silencing was lost, and with it the request to stop: a server hung at its end.
// With no time to wait every ring has a good chance to fall there.
TEST(PublisherSocketEnd, NoRingIsLost) {
  zmq::context_t context(1);
  const zmq::socket_t socket(context, zmq::socket_type::pub);
  const WakeBell bell("test");
  for (int trial = 0; trial < 200; ++trial) {
    std::atomic<bool> stop = false;
    std::atomic<bool> given_up = false;
    std::atomic<int> turns = 0;
    std::thread waiting([&] {
      const auto deadline = std::chrono::steady_clock::now() + patience;
      while (!stop) {
        while (!wait_for_events(socket, bell, 0ms)) {
          ++turns;
          if (std::chrono::steady_clock::now() < deadline) continue;
          given_up = true;
          return;
        }
      }
    });
    EXPECT_TRUE(eventually([&] { return turns >= 2; }));
    stop = true;
    bell.ring();
    waiting.join();
    ASSERT_FALSE(given_up) << "trial " << trial;
    bell.silence();
  }
}

TEST(MessageBuffer, IsTakenByOneMessageAtATime) {
  MessageBuffer buffer(100);
  EXPECT_FALSE(buffer.taken());
  EXPECT_TRUE(buffer.take(40));
  EXPECT_EQ(buffer.message().size(), 40U);
  EXPECT_FALSE(buffer.take(40));
  buffer.give_back();
  EXPECT_TRUE(buffer.take(100));
}

TEST(PublisherSocket, LosesAndCountsWhatItsThreadDoesNotTake) {
  PublisherSocket socket({.what = "test", .thread = "test", .handed_over = 2});
  MessageBuffer third(1);
  // Not woken, the thread takes nothing.
  EXPECT_TRUE(socket.offer(message_of("first")));
  EXPECT_TRUE(socket.offer(message_of("second")));
  EXPECT_EQ(socket.lost(), 0U);
  ASSERT_TRUE(third.take(1));
  EXPECT_FALSE(socket.offer(third));
  EXPECT_FALSE(third.taken()) << "given back";
  EXPECT_EQ(socket.lost(), 1U);
  EXPECT_TRUE(socket.full());
  EXPECT_EQ(socket.lost(), 2U);
  socket.wake();
  EXPECT_TRUE(eventually([&] { return !socket.full(); }));
  EXPECT_TRUE(socket.offer(message_of("next")));
}

TEST(PublisherSocket, ClientsOfAnotherKindKeepNobodyOutBeforeTheFirstMessage) {
  PublisherSocket socket({.what = "test", .thread = "test"});
  socket.follow({"m"});
  for (int k = 0; k < 12; ++k) {
    try {
      ZmtpPeer(socket.port(), "REQ");
    } catch (const boost::system::system_error&) {  // refused
    }
  }
  ZmtpPeer subscriber(socket.port(), "SUB");
  subscriber.send(ZmtpPeer::subscription("m"));
  EXPECT_TRUE(eventually([&] { return socket.wanted(); }));
}

TEST(PublisherSocket, SendsInOrderAndGivesBuffersBack) {
  MessageBuffer again(8);
  PublisherSocket socket({.what = "test", .thread = "test"});
  socket.follow({"m"});
  ZmtpPeer subscriber(socket.port(), "SUB");
  subscriber.send(ZmtpPeer::subscription("m"));
  ASSERT_TRUE(eventually([&] { return socket.wanted(); })) << "without a message in between";
  for (int i = 0; i < 50; ++i) {
    const std::string text = fmt::format("m{}", i);
    ASSERT_TRUE(eventually([&] { return !again.taken(); }));
    ASSERT_TRUE(again.take(text.size()));
    std::memcpy(again.message().data(), text.data(), text.size());
    ASSERT_TRUE(socket.offer(again));
    socket.wake();
    EXPECT_EQ(subscriber.frame(), text);
  }
  EXPECT_EQ(socket.lost(), 0U);
}

// Each byte of a subscription is a node that libzmq allocates on the thread that uses the socket.
TEST(ZeromqSink, SubscriptionsAreTakenOnAThreadOfItsOwn) {
  if (ECHOFORM_THREAD_SANITIZER) GTEST_SKIP() << "nothing is counted beside the thread sanitizer";
  synthetic::Stream stream;
  const auto sink = make_zeromq_sink({.port = 0});
  sink->setup_changed(stream.setup());
  ZmtpPeer subscriber(sink->port(), "SUB");
  std::size_t allocations = 0;
  // As many images as a stream has buffers: where its thread is late, on a busy machine, those beyond them take memory.
  for (int turn = 0; turn < 8; ++turn) {
    subscriber.send(ZmtpPeer::subscription(fmt::format("{:02}{}", turn, std::string(100, 'x'))));
    subscriber.ping();  // libzmq has read it
    const FinishedFrame frame = stream.frame(1);
    const std::size_t before = thread_allocations();
    static_cast<void>(sink->wants_envelope());
    sink->publish(frame);
    allocations += thread_allocations() - before;
  }
  // A message's header is allocated where it is sent.
  EXPECT_EQ(allocations, 0U);
}

// A subscriber that leaves has libzmq walk all that the others hold.
TEST(TelemetryPublisher, StopsWhileSubscribersComeAndGo) {
  std::atomic<bool> ended{false};
  auto telemetry = std::make_unique<TelemetryPublisher>(TelemetryPublisherOptions{.port = 0, .interval = 10ms},
                                                        [] { return TelemetryReport(); });
  std::vector<std::jthread> peers;
  for (int k = 0; k < 16; ++k) {
    peers.emplace_back([&ended, k, port = telemetry->port()] {
      for (int turn = 0; !ended.load(); ++turn) {
        try {
          ZmtpPeer peer(port, "SUB");
          std::string many;
          for (int i = 0; i < 14; ++i) {
            std::string topic(4000, static_cast<char>('a' + k));
            topic.replace(0, 12, fmt::format("{:04}{:04}{:04}", k, turn % 10'000, i));
            many += ZmtpPeer::subscription(topic);
          }
          static_cast<void>(peer.try_send(many));
        } catch (const std::exception&) {
          std::this_thread::sleep_for(1ms);  // turned away, or the publisher has gone: the pace of its attempts
        }
      }
    });
  }
  EXPECT_TRUE(eventually([&] { return telemetry->peers().accepted >= 200; }));
  std::atomic<bool> stopped{false};
  std::jthread stop([&] {
    telemetry.reset();
    stopped = true;
  });
  EXPECT_TRUE(eventually([&] { return stopped.load(); }));
  ended = true;
}

}  // namespace
}  // namespace echoform
