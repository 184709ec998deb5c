// Limits on the subscribers of a publisher, each with a good subscriber beside it that misses nothing.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstring>

#include "base/descriptors.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/process.hpp"
#include "tests/support/zmtp_peer.hpp"
#include "tests/transport_publish/synthetic_stream.hpp"
#include "transport/publish/subscriber.hpp"
#include "transport/publish/telemetry_publisher.hpp"
#include "transport/publish/zeromq_sink.hpp"
#include "transport/web/web_sink.hpp"
#include "transport/zeromq/socket.hpp"

namespace echoform {
namespace {

using namespace std::chrono_literals;
using testing_support::repeated;
using testing_support::ZmtpPeer;

class ZeromqPeerLimitsTest : public testing::Test {
 protected:
  void open(std::size_t subscribers) {
    sink_ = make_zeromq_sink({.port = 0, .subscribers = subscribers});
    sink_->setup_changed(stream_.setup());
  }

  [[nodiscard]] std::unique_ptr<ImageSubscriber> join() {
    auto subscriber = std::make_unique<ImageSubscriber>(
        SubscriberOptions{.endpoint = sink_->endpoint(), .stream = "echoform", .latest_only = false});
    EXPECT_TRUE(eventually([&] {
      sink_->publish(stream_.frame(0));
      return subscriber->receive(10ms) != nullptr;
    }));
    return subscriber;
  }

  static void drain(ImageSubscriber& subscriber) {
    while (subscriber.receive(50ms) != nullptr) {
    }
  }

  // Publishes and has `good` read every image, until `until` holds; at least 20.
  template <class Until>
  void serve(ImageSubscriber& good, Until until) {
    drain(good);
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (int i = 0; i < 20 || (!until() && std::chrono::steady_clock::now() < deadline); ++i) {
      sink_->publish(stream_.frame(++sequence_));
      const wire::Image* image = good.receive(patience);
      ASSERT_NE(image, nullptr);
      ASSERT_EQ(image->sequence(), sequence_);
    }
    EXPECT_TRUE(until());
  }

  [[nodiscard]] std::uint64_t refused(PeerRefusal reason) const { return sink_->peers().refused_for(reason); }

  synthetic::Stream stream_;
  std::unique_ptr<ZeromqSink> sink_;
  std::uint64_t sequence_ = 0;
};

TEST_F(ZeromqPeerLimitsTest, SubscribersBeyondTheLimitAreDisconnected) {
  open(2);
  const auto first = join(), second = join();
  EXPECT_TRUE(eventually([&] { return sink_->peers().open == 2; }));
  zmq::context_t context;
  std::vector<zmq::socket_t> more;
  for (int i = 0; i < 5; ++i) more.push_back(connect_subscriber(context, sink_->endpoint(), "", 1 << 20));
  drain(*second);
  serve(*first, [&] { return refused(PeerRefusal::too_many) >= 5; });
  EXPECT_TRUE(eventually([&] { return sink_->peers().open == 2; }));
  for (std::uint64_t sequence = 1; sequence <= sequence_; ++sequence) {
    const wire::Image* image = second->receive(patience);
    ASSERT_NE(image, nullptr);
    EXPECT_EQ(image->sequence(), sequence);
  }
}

TEST_F(ZeromqPeerLimitsTest, APlaceThatIsLeftIsFreeAgain) {
  open(1);
  join().reset();
  const auto next = join();
  EXPECT_TRUE(eventually([&] { return sink_->peers().open == 1; }));
}

TEST_F(ZeromqPeerLimitsTest, ASubscriberThatSendsTooMuchIsCutOff) {
  open(8);
  const auto good = join();
  zmq::context_t context;
  zmq::socket_t flooding = connect_socket(context, {.endpoint = sink_->endpoint(), .message_limit = 1 << 20, .send_queue = 0});
  // 40 KB: more than the 2 KiB that a subscriber may send.
  for (int i = 0; i < 100; ++i) flooding.set(zmq::sockopt::subscribe, fmt::format("{:04}{}", i, std::string(400, 'x')));
  serve(*good, [&] { return refused(PeerRefusal::flooding) >= 1; });
  EXPECT_EQ(good->statistics().gaps, 0u);
}

TEST_F(ZeromqPeerLimitsTest, ASubscriberOfTooMuchIsCutOff) {
  open(8);
  const auto good = join();
  zmq::context_t context;
  zmq::socket_t greedy = connect_socket(context, {.endpoint = sink_->endpoint(), .message_limit = 1 << 20, .send_queue = 0});
  for (int i = 0; i < 2000; ++i) greedy.set(zmq::sockopt::subscribe, fmt::format("{:04}", i));  // few bytes, many prefixes
  serve(*good, [&] { return refused(PeerRefusal::flooding) >= 1; });
  EXPECT_EQ(good->statistics().gaps, 0u);
}

// libzmq 4.3.4 reads nothing more of a peer whose queue is full, and ends the program if that peer is gone once a heartbeat is
// due.
TEST_F(ZeromqPeerLimitsTest, SubscribersAreHeardWhileNoFramesRun) {
  open(8);
  const auto good = join();
  const std::string many = repeated(ZmtpPeer::subscription("abc"), 300);
  ZmtpPeer peer(sink_->port(), "SUB");
  peer.send(many);
  peer.ping();  // comes back only if what stands before it was read
  TelemetryPublisher telemetry({.port = 0, .interval = 24h}, [] { return TelemetryReport(); });
  ZmtpPeer other(telemetry.port(), "SUB");
  other.send(many);
  other.ping();
  serve(*good, [] { return true; });
}

TEST_F(ZeromqPeerLimitsTest, SubscribersThatGoWithAHeartbeatHalfReadEndNothing) {
  open(8);
  const auto good = join();
  const std::string heartbeat = ZmtpPeer::command(std::string("\x04PING\0\0", 7));
  for (int i = 0; i < 20; ++i) {
    ZmtpPeer peer(sink_->port(), "SUB");
    peer.send(repeated(repeated(ZmtpPeer::subscription("abc"), 30) + heartbeat, 60));
    peer.reset();
  }
  EXPECT_TRUE(eventually([&] { return sink_->peers().open == 1; }));
  serve(*good, [] { return true; });
  EXPECT_EQ(good->statistics().gaps, 0u);
}

TEST_F(ZeromqPeerLimitsTest, WhatIsSubscribedToIsLimitedWhileNoFramesRun) {
  open(8);
  std::string many;
  for (int i = 0; i < 2000; ++i) many += ZmtpPeer::subscription(fmt::format("{:04}", i));
  ZmtpPeer greedy(sink_->port(), "SUB");
  greedy.send(many);
  greedy.wait_for_end();
  EXPECT_EQ(refused(PeerRefusal::flooding), 1u);
  TelemetryPublisher telemetry({.port = 0, .interval = 24h}, [] { return TelemetryReport(); });
  ZmtpPeer other(telemetry.port(), "SUB");
  other.send(many);
  other.wait_for_end();
  EXPECT_EQ(telemetry.peers().refused_for(PeerRefusal::flooding), 1u);
}

// libzmq makes a node of each byte, and walks all of them when a subscriber leaves.
TEST_F(ZeromqPeerLimitsTest, SubscriptionsAreNoLongerTogetherThanATreeThatIsSoonWalked) {
  open(16);
  const auto good = join();
  std::vector<std::unique_ptr<ZmtpPeer>> greedy;
  for (int k = 0; k < 12; ++k) {
    std::string some;
    for (int i = 0; i < 8; ++i) some += ZmtpPeer::subscription(fmt::format("{:02}{:02}{}", k, i, std::string(200, 'x')));
    greedy.push_back(std::make_unique<ZmtpPeer>(sink_->port(), "SUB"));
    static_cast<void>(greedy.back()->try_send(some));  // 1.7 KB of each, which each alone may send, 20 KB in all
  }
  serve(*good, [&] { return refused(PeerRefusal::flooding) >= 1; });
  EXPECT_EQ(good->statistics().gaps, 0u);
}

// Whoever is one too many is cut off before libzmq takes a message of it.
TEST_F(ZeromqPeerLimitsTest, APeerOfAnOlderProtocolIsNotLetInUnseen) {
  open(8);
  ZmtpPeer old(sink_->port());
  old.send(std::string("\xFF\0\0\0\0\0\0\0\1\x7F\x01\x02\0\0", 14));  // ZMTP 2.0: nobody asks who it is
  old.wait_for_end();
  EXPECT_TRUE(eventually([&] { return sink_->peers().open == 0; }));
}

TEST_F(ZeromqPeerLimitsTest, SubscribersThatComeAndGoAreNoFasterThanTheirWorkIsDone) {
  open(64);
  const auto good = join();
  std::uint64_t came = sink_->peers().accepted;
  for (int turn = 0; turn < 40 && refused(PeerRefusal::too_often) == 0; ++turn) {
    // Many at once, and there until they are looked at: one that has gone before counts as nobody, as on a busy machine.
    constexpr std::size_t at_once = 60;
    std::vector<std::unique_ptr<ZmtpPeer>> passing;
    for (std::size_t k = 0; k < at_once; ++k) passing.push_back(std::make_unique<ZmtpPeer>(sink_->port()));
    came += at_once;
    ASSERT_TRUE(eventually([&] { return sink_->peers().accepted >= came; }));
    passing.clear();
    ASSERT_TRUE(eventually([&] { return sink_->peers().open == 1; }));
  }
  serve(*good, [&] { return refused(PeerRefusal::too_often) >= 1; });
  EXPECT_EQ(good->statistics().gaps, 0u);
}

TEST_F(ZeromqPeerLimitsTest, SubscribersThatSayNothingKeepNobodyOut) {
  open(2);
  const auto first = join();
  std::vector<std::unique_ptr<ZmtpPeer>> silent;
  for (int i = 0; i < 6; ++i) silent.push_back(std::make_unique<ZmtpPeer>(sink_->port()));
  EXPECT_TRUE(eventually([&] { return sink_->peers().accepted >= 7; }));
  const auto second = join();
  silent.front()->wait_for_end();
  EXPECT_GE(refused(PeerRefusal::silent), 6u) << "each gave way to the next, the last to the subscriber";
  EXPECT_EQ(refused(PeerRefusal::too_many), 0u);
  EXPECT_TRUE(eventually([&] { return sink_->peers().open == 2; }));
  drain(*second);
  serve(*first, [] { return true; });
  EXPECT_EQ(first->statistics().gaps, 0u) << "whoever is through its handshake keeps its place";
}

TEST_F(ZeromqPeerLimitsTest, fault_SubscribersLeaveDescriptorsToFilesAndControl) {
  open(8);
  const auto good = join();
  const auto web = make_web_sink({.port = 0});
  ZmtpPeer subscriber, browser;  // their own ends are of the same process
  {
    const testing_support::FewDescriptors few(descriptors_for_control);
    subscriber.connect(sink_->port());
    subscriber.wait_for_end();
    browser.connect(web->port());
    browser.wait_for_end();
  }
  EXPECT_EQ(refused(PeerRefusal::no_descriptors), 1u);
  EXPECT_EQ(web->peers().refused_for(PeerRefusal::no_descriptors), 1u);
  serve(*good, [] { return true; });
  EXPECT_EQ(good->statistics().gaps, 0u);
}

// Unread, its queue is full; with heartbeats, libzmq 4.3.4 would end its program when they time out.
TEST(ImageSubscriberSocket, HasNoHeartbeats) {
  zmq::context_t context;
  const zmq::socket_t socket = connect_subscriber(context, "tcp://127.0.0.1:1", "", 1 << 20);
  EXPECT_EQ(socket.get(zmq::sockopt::heartbeat_ivl), 0);
  EXPECT_EQ(socket.get(zmq::sockopt::tcp_keepalive), 1) << "by which a server that has gone is noticed";
}

TEST_F(ZeromqPeerLimitsTest, ATooLongMessageEndsItsConnection) {
  open(8);
  const auto good = join();
  zmq::context_t context;
  zmq::socket_t rude = connect_subscriber(context, sink_->endpoint(), std::string(600, 'x'), 1 << 20);
  // The first, it, and it again.
  serve(*good, [&] { return sink_->peers().accepted >= 3; });
}

}  // namespace
}  // namespace echoform
