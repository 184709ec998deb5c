// Subscribers that read nothing, die, come late, or come and go: the one beside them gets every single frame.
#include <fmt/format.h>
#include <zmq.hpp>

#include <atomic>
#include <list>
#include <thread>

#include "tests/faults/server_bench.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/zmtp_peer.hpp"
#include "transport/publish/image_message.hpp"
#include "transport/publish/subscriber.hpp"
#include "transport/publish/zeromq_sink.hpp"
#include "transport/zeromq/socket.hpp"

namespace echoform::faults {
namespace {

using namespace testing_support;
using namespace std::chrono_literals;

class Subscribers : public OnBackends {
 protected:
  void SetUp() override {
    OnBackends::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    Configuration configuration = base_configuration(GetParam());
    configuration.grid.pixels = {128, 128};            // 64 KiB an envelope: more than the system's buffers take for long
    configuration.server.subscriber_bytes = 1U << 20;  // so much may wait for one
    bench_ = std::make_unique<ServerBench>(configuration);
    sender_ = std::make_unique<GoodSender>(*bench_, acquisition_);
  }

  /// One that keeps up, with the sequence that it read last.
  struct Reader {
    std::unique_ptr<ImageSubscriber> subscriber;
    std::uint64_t last = 0;
  };

  [[nodiscard]] std::unique_ptr<ImageSubscriber> make_subscriber() {
    return std::make_unique<ImageSubscriber>(
        SubscriberOptions{.endpoint = bench_->server->sink<ZeromqSink>().endpoint(), .stream = "echoform", .latest_only = false});
  }

  /// Sends a frame; every reader gets it, and now and then the pixels are compared.
  void send_one() {
    sender_->send(++sequence_, 1);
    for (Reader& reader : readers_) {
      const wire::Image* image = reader.subscriber->receive(patience);
      ASSERT_NE(image, nullptr) << sequence_;
      ASSERT_EQ(image->sequence(), sequence_);
      reader.last = sequence_;
      if (sequence_ % 16 != 0) continue;
      const PublishedImage expected = bench_->undisturbed(acquisition_, frame_of(acquisition_, sequence_));
      ASSERT_EQ(image->pixels().size(), expected.envelope.size());
      ASSERT_EQ(std::memcmp(image->pixels().data(), expected.envelope.data(), expected.envelope.size()), 0) << sequence_;
    }
  }
  void send(std::size_t count) {
    for (std::size_t i = 0; i < count && !HasFatalFailure(); ++i) send_one();
  }
  /// A subscription takes a moment to reach the publisher: sends frames until one arrives, and reads those that follow.
  void join() {
    Reader reader{make_subscriber(), 0};
    for (int i = 0; i < 1000 && reader.last == 0; ++i) {
      ASSERT_NO_FATAL_FAILURE(send_one());
      if (const wire::Image* image = reader.subscriber->receive(20ms)) reader.last = image->sequence();
    }
    ASSERT_NE(reader.last, 0U);
    while (reader.last < sequence_) {
      const wire::Image* image = reader.subscriber->receive(patience);
      ASSERT_NE(image, nullptr);
      ASSERT_EQ(image->sequence(), reader.last + 1);
      reader.last = image->sequence();
    }
    readers_.push_back(std::move(reader));
  }
  void leave() { readers_.pop_back(); }

  /// All that came went out, to whomever: the pipeline does not know of subscribers.
  void expect_all_published() {
    for (Reader& reader : readers_) {
      EXPECT_EQ(reader.subscriber->statistics().gaps, 0U);
      EXPECT_EQ(reader.subscriber->statistics().malformed, 0U);
    }
    sender_->finish();
    bench_->expect_change({}, {.received = sequence_, .published = sequence_, .accepted = 1});
  }

  const Acquisition acquisition_ = base_acquisition();
  std::unique_ptr<ServerBench> bench_;
  std::unique_ptr<GoodSender> sender_;
  std::list<Reader> readers_;
  std::uint64_t sequence_ = 0;
};
ECHOFORM_ON_BACKENDS(Subscribers);

TEST_P(Subscribers, NeverReads) {
  zmq::context_t context(1);
  zmq::socket_t stuck(context, zmq::socket_type::sub);
  stuck.set(zmq::sockopt::linger, 0);
  stuck.set(zmq::sockopt::rcvhwm, 2);
  stuck.set(zmq::sockopt::rcvbuf, 4096);
  stuck.set(zmq::sockopt::rcvtimeo, 20);
  stuck.set(zmq::sockopt::subscribe, stream_prefix("echoform"));
  stuck.connect(bench_->server->sink<ZeromqSink>().endpoint());
  zmq::message_t message;
  for (int i = 0; i < 1000 && message.size() == 0; ++i) {
    ASSERT_NO_FATAL_FAILURE(send_one());
    static_cast<void>(stuck.recv(message));
  }
  ASSERT_GT(message.size(), 0U);
  ASSERT_NO_FATAL_FAILURE(join());
  const std::uint64_t before = sequence_;
  ASSERT_NO_FATAL_FAILURE(send(200));
  // What the stuck one still gets is what its queue and the system's buffers took, about 5 MB; all is 13 MB.
  std::uint64_t kept = 0;
  while (stuck.recv(message)) ++kept;
  EXPECT_GT(kept, 0U);
  EXPECT_LT(kept, sequence_ - before - 50);
  expect_all_published();
}

TEST_P(Subscribers, Dies) {
  ASSERT_NO_FATAL_FAILURE(join());
  ASSERT_NO_FATAL_FAILURE(join());
  ASSERT_NO_FATAL_FAILURE(send(20));
  Reader dying = std::move(readers_.back());
  leave();
  ASSERT_NO_FATAL_FAILURE(send(1));
  dying.subscriber.reset();  // with an image on its way to it
  ASSERT_NO_FATAL_FAILURE(send(50));
  expect_all_published();
}

TEST_P(Subscribers, JoinsLate) {
  ASSERT_NO_FATAL_FAILURE(join());
  ASSERT_NO_FATAL_FAILURE(send(40));
  ASSERT_NO_FATAL_FAILURE(join());
  ASSERT_NO_FATAL_FAILURE(send(40));
  EXPECT_GE(readers_.front().subscriber->statistics().images, readers_.back().subscriber->statistics().images + 40);
  expect_all_published();
}

TEST_P(Subscribers, Churns) {
  ASSERT_NO_FATAL_FAILURE(join());
  for (int turn = 0; turn < 40; ++turn) {
    // One that leaves before its subscription has arrived, perhaps, and every fourth time one that has read.
    const auto passing = make_subscriber();
    if (turn % 4 == 0) {
      ASSERT_NO_FATAL_FAILURE(join());
      leave();
    }
    ASSERT_NO_FATAL_FAILURE(send(3));
  }
  expect_all_published();
}

/// Comes, subscribes to so much of its own, and goes at once.
void come_and_go(std::uint16_t port, int number, std::size_t topic_bytes, int topics) {
  try {
    ZmtpPeer peer(port, "SUB");
    std::string all;
    for (int k = 0; k < topics; ++k) {
      all += ZmtpPeer::subscription(fmt::format("{:06}{:06}{}", number, k, std::string(topic_bytes - 12, 'x')));
    }
    static_cast<void>(peer.try_send(all));
  } catch (const std::exception&) {  // turned away
  }
}

// libzmq takes subscriptions, and walks the tree of them all when a subscriber leaves, on the thread that uses the socket.
TEST_P(Subscribers, ManyThatComeAndGoWithLongSubscriptions) {
  ASSERT_NO_FATAL_FAILURE(join());
  const std::uint16_t port = bench_->server->sink<ZeromqSink>().port();
  std::atomic<int> visits{0};
  {
    std::vector<std::jthread> peers;
    for (int k = 0; k < 20; ++k) {
      peers.emplace_back([&, k](const std::stop_token& stop) {
        for (int turn = 0; !stop.stop_requested(); ++turn, ++visits) come_and_go(port, 1000 * k + turn % 1000, 4000, 14);
      });
    }
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (visits.load() < 1000 && std::chrono::steady_clock::now() < deadline) ASSERT_NO_FATAL_FAILURE(send_one());
    EXPECT_GE(visits.load(), 1000);
    for (std::jthread& peer : peers) peer.request_stop();
  }
  ASSERT_NO_FATAL_FAILURE(send(20));
  expect_all_published();
}

// Within every limit on what one subscriber may have.
TEST_P(Subscribers, ManyThatHoldWhatTheyMayAndLeaveTogether) {
  ASSERT_NO_FATAL_FAILURE(join());
  const std::uint16_t port = bench_->server->sink<ZeromqSink>().port();
  for (int turn = 0; turn < 5; ++turn) {
    {
      std::list<ZmtpPeer> peers;
      for (int k = 0; k < 8; ++k) {
        std::string all;
        for (int topic = 0; topic < 3; ++topic) {
          all += ZmtpPeer::subscription(fmt::format("{:03}{:03}{:03}{}", turn, k, topic, std::string(480, 'x')));
        }
        try {
          peers.emplace_back(port, "SUB").send(all);
        } catch (const std::exception&) {  // cut off: they have too much together
        }
      }
      ASSERT_NO_FATAL_FAILURE(send(2));
    }
    ASSERT_NO_FATAL_FAILURE(send(2));
  }
  expect_all_published();
}

}  // namespace
}  // namespace echoform::faults
