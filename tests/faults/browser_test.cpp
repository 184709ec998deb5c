// A browser that takes its time, beside one that takes every image.
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "proto/image.pb.h"
#include "tests/faults/server_bench.hpp"
#include "tests/support/patience.hpp"
#include "transport/web/web_sink.hpp"

namespace echoform::faults {
namespace {

using namespace testing_support;
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;

/// The viewer page's end of its feed.
class Browser {
 public:
  explicit Browser(ServerBench& bench) : socket_(context_) {
    const std::uint16_t port = bench.server->sink<WebSink>().port();
    socket_.next_layer().connect({asio::ip::make_address("127.0.0.1"), port});
    socket_.read_message_max(64 << 20);
    socket_.handshake("127.0.0.1:" + std::to_string(port), "/images");
  }
  wire::Image read() {
    beast::flat_buffer buffer;
    socket_.read(buffer);
    wire::Image image;
    EXPECT_TRUE(image.ParseFromArray(buffer.data().data(), static_cast<int>(buffer.size())));
    return image;
  }
  void ready() { socket_.write(asio::buffer(std::string_view("ready"))); }
  void vanish() { socket_.next_layer().close(); }

 private:
  asio::io_context context_;
  websocket::stream<asio::ip::tcp::socket> socket_;
};

/// One whose page takes its time: what comes is read, and pings are answered, on a thread of its own, but the page says that it
/// is ready only when it is told to.
class SlowPage {
 public:
  explicit SlowPage(ServerBench& bench) : socket_(context_) {
    const std::uint16_t port = bench.server->sink<WebSink>().port();
    socket_.next_layer().connect({asio::ip::make_address("127.0.0.1"), port});
    socket_.read_message_max(64 << 20);
    socket_.handshake("127.0.0.1:" + std::to_string(port), "/images");
    read();
    thread_ = std::jthread([this] { context_.run(); });
  }
  ~SlowPage() {
    asio::post(context_, [this] {
      boost::system::error_code ignored;
      socket_.next_layer().close(ignored);
    });
  }
  SlowPage(const SlowPage&) = delete;
  SlowPage& operator=(const SlowPage&) = delete;

  /// The sequence of the next image; 0 if none comes.
  [[nodiscard]] std::uint64_t next() {
    std::unique_lock lock(mutex_);
    if (!came_.wait_for(lock, patience, [&] { return !sequences_.empty(); })) return 0;
    const std::uint64_t sequence = sequences_.front();
    sequences_.pop_front();
    return sequence;
  }
  void ready() {
    asio::post(context_, [this] {
      socket_.text(true);
      socket_.async_write(asio::buffer(std::string_view("ready")), [](const boost::system::error_code&, std::size_t) {});
    });
  }

 private:
  void read() {
    socket_.async_read(buffer_, [this](const boost::system::error_code& error, std::size_t) {
      if (error) return;
      wire::Image image;
      EXPECT_TRUE(image.ParseFromArray(buffer_.data().data(), static_cast<int>(buffer_.size())));
      buffer_.clear();
      {
        const std::lock_guard lock(mutex_);
        sequences_.push_back(image.sequence());
      }
      came_.notify_all();
      read();
    });
  }

  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<std::uint64_t> sequences_;
  asio::io_context context_;
  websocket::stream<asio::ip::tcp::socket> socket_;
  beast::flat_buffer buffer_;
  std::jthread thread_;  // last: it runs what stands above
};

class SlowBrowser : public OnBackends {
 protected:
  static void wait_for_viewers(ServerBench& bench, std::size_t count) {
    ASSERT_TRUE(bench.reaches([&] { return bench.server->sink<WebSink>().viewers() == count; }));
  }
  /// The quick browser takes every frame, with the right pixels, before the next is sent.
  static void show(ServerBench& bench, GoodSender& sender, Browser& quick, std::uint64_t first, std::size_t count) {
    const Acquisition acquisition = base_acquisition();
    for (std::uint64_t sequence = first; sequence < first + count; ++sequence) {
      sender.send(sequence, 1);
      const wire::Image image = quick.read();
      ASSERT_EQ(image.sequence(), sequence);
      const PublishedImage expected = bench.undisturbed(acquisition, frame_of(acquisition, sequence));
      ASSERT_EQ(image.pixels().size(), expected.envelope.size());
      ASSERT_EQ(std::memcmp(image.pixels().data(), expected.envelope.data(), expected.envelope.size()), 0);
      quick.ready();
    }
  }
};
ECHOFORM_ON_BACKENDS(SlowBrowser);

TEST_P(SlowBrowser, IsSentOneImageAndThenTheNewest) {
  ServerBench bench(GetParam());
  const Books before = bench.books();
  SlowPage slow(bench);
  Browser quick(bench);
  wait_for_viewers(bench, 2);
  GoodSender sender(bench, base_acquisition());
  show(bench, sender, quick, 1, 50);
  // It has the first on its way, the fiftieth waits for it, the 48 between are lost to it.
  bench.expect_change(before, {.received = 50, .published = 50, .accepted = 1, .viewer_dropped = 48});
  EXPECT_EQ(slow.next(), 1U);
  slow.ready();
  EXPECT_EQ(slow.next(), 50U);
  show(bench, sender, quick, 51, 10);
  bench.expect_change(before, {.received = 60, .published = 60, .accepted = 1, .viewer_dropped = 48 + 9});
  sender.finish();
}

TEST_P(SlowBrowser, ThatReadsNothingAndVanishes) {
  ServerBench bench(GetParam());
  const Books before = bench.books();
  Browser quick(bench);
  wait_for_viewers(bench, 1);
  std::size_t buffers = 0;
  GoodSender sender(bench, base_acquisition());
  for (std::uint64_t turn = 0; turn < 10; ++turn) {
    Browser slow(bench);
    wait_for_viewers(bench, 2);
    show(bench, sender, quick, 1 + 3 * turn, 3);
    // Memory goes by viewers, not by images.
    if (turn == 1) buffers = bench.server->sink<WebSink>().image_buffers();
    if (turn > 1) {
      EXPECT_EQ(bench.server->sink<WebSink>().image_buffers(), buffers);
    }
    slow.vanish();
    wait_for_viewers(bench, 1);
  }
  // The first turn's has nothing waiting when it comes and is sent the first of three; the others are sent the image that is
  // there, and the first and second of three are lost to them.
  bench.expect_change(before, {.received = 30, .published = 30, .accepted = 1, .viewer_dropped = 1 + 9 * 2});
  sender.finish();
}

}  // namespace
}  // namespace echoform::faults
