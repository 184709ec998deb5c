#include "transport/openigtlink/openigtlink_sink.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/descriptors.hpp"
#include "base/errors.hpp"
#include "transport/acquisition/handler_memory.hpp"
#include "transport/openigtlink/client_session.hpp"
#include "transport/peers/peer_listener.hpp"

namespace echoform {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using openigtlink::ClientSession;

// Bytes of an image that the system may hold unsent. The limit keeps a slow client's images no older than necessary.
constexpr int most_unsent_bytes = 1 << 17;

tcp::endpoint endpoint_of(const OpenIgtlinkSinkOptions& options) {
  error_code error;
  const auto address = asio::ip::make_address(options.address, error);
  if (error) throw InputError("OpenIGTLink address", fmt::format("\"{}\"", options.address), "an IPv4 or IPv6 address");
  return {address, options.port};
}

std::string text_of(const tcp::endpoint& endpoint) {
  const auto address = endpoint.address();
  return address.is_v6() ? fmt::format("[{}]:{}", address.to_string(), endpoint.port())
                         : fmt::format("{}:{}", address.to_string(), endpoint.port());
}

void set_options(tcp::socket& socket) {
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  // Detects clients that disappear without closing the connection and send no queries.
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  (void)::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &most_unsent_bytes, sizeof most_unsent_bytes);
}

class OpenIgtlinkSinkImplementation final : public OpenIgtlinkSink {
 public:
  explicit OpenIgtlinkSinkImplementation(const OpenIgtlinkSinkOptions& options) : state_(options) {
    listen(endpoint_of(options));
    listener_.accept([this](tcp::socket socket, const asio::ip::address& peer) { welcome(std::move(socket), peer); });
    tick();
    tell_figures();
    thread_ = std::thread([this] { run(); });
  }
  ~OpenIgtlinkSinkImplementation() override {
    context_.stop();
    thread_.join();
  }
  OpenIgtlinkSinkImplementation(const OpenIgtlinkSinkImplementation&) = delete;
  OpenIgtlinkSinkImplementation& operator=(const OpenIgtlinkSinkImplementation&) = delete;

  void setup_changed(std::shared_ptr<const ImagingSetup> setup) override {
    state_.board.set_setup(*setup);
    // Only the server's thread may change what the sessions follow. The setup is not kept, because it owns large tables.
    asio::post(context_, [this, place = openigtlink::ProbePlace(*setup)] {
      state_.follow(place);
      state_.ready = true;
      tell_all([](ClientSession& session) { session.setup_changed(); });
    });
  }
  void stream_ended() override {
    asio::post(context_, [this] {
      state_.ready = false;
      tell_all([](ClientSession& session) { session.tell_status(); });
    });
  }

  void publish(const FinishedFrame& frame) noexcept override {
    published_.store(frame.counters.frames_published, std::memory_order_relaxed);
    frames_dropped_.store(frame.counters.dropped(), std::memory_order_relaxed);
    latency_.store((frame.now - frame.slot.last_byte_time).count(), std::memory_order_relaxed);
    frames_.fetch_add(1, std::memory_order_relaxed);
    if (!state_.board.publish(frame)) return;
    if (wake_under_way_.exchange(true, std::memory_order_acq_rel)) return;
    asio::post(context_, HandlerWithMemory(wake_memory_, [this] {
                 // asio gives the memory back before it calls.
                 wake_under_way_.store(false, std::memory_order_release);
                 tell_all([](ClientSession& session) { session.offer(); });
               }));
  }

  bool wants_envelope() noexcept override { return state_.options.choice.envelope && state_.board.wants_envelope(); }
  std::string describe() const override { return text_of(endpoint_); }
  std::uint16_t port() const noexcept override { return endpoint_.port(); }
  std::size_t clients() const noexcept override { return state_.peers.open.load(std::memory_order_relaxed); }
  std::uint64_t dropped() const noexcept override { return state_.dropped.load(std::memory_order_relaxed); }
  const PeerCounters& peers() const noexcept override { return state_.peers; }
  std::size_t image_buffers() const override { return state_.board.buffers(); }

 private:
  void listen(const tcp::endpoint& endpoint) {
    listener_.listen(endpoint, "OpenIGTLink", text_of(endpoint));
    endpoint_ = listener_.endpoint();
    if (!peer_network(endpoint.address()).is_loopback()) {
      spdlog::warn("OpenIGTLink: {} is open to every host that reaches it: the protocol knows neither passwords nor encryption",
                   text_of(endpoint_));
    }
  }

  void welcome(tcp::socket socket, const asio::ip::address& peer) {
    state_.peers.accepted.fetch_add(1, std::memory_order_relaxed);
    if (const auto refusal = state_.book.enter(peer, std::chrono::steady_clock::now())) return state_.refuse(*refusal, peer);
    if (fewer_descriptors_left(socket.native_handle(), descriptors_for_control)) {
      state_.book.leave(peer);
      return state_.refuse(PeerRefusal::no_descriptors, peer);
    }
    set_options(socket);
    std::make_shared<ClientSession>(state_, std::move(socket), peer)->start();
  }

  // A session that fails, most likely for lack of memory, is closed; the others go on.
  template <typename Tell>
  void tell_all(const Tell& tell) {
    for (ClientSession* session : state_.sessions) {
      try {
        tell(*session);
      } catch (const std::exception& error) {
        spdlog::error("OpenIGTLink: {}", error.what());
        session->close();
      }
    }
  }

  // A session that is notified may close itself. It is destroyed once its handlers have run, never during a call.
  void tick() {
    second_.expires_after(std::chrono::seconds(1));
    second_.async_wait([this](error_code error) {
      if (error) return;
      tick();
      const auto now = std::chrono::steady_clock::now();
      tell_all([now](ClientSession& session) { session.look_at_time(now); });
    });
  }

  void tell_figures() {
    telemetry_.expires_after(state_.options.telemetry_interval);
    telemetry_.async_wait([this](error_code error) {
      if (error) return;
      tell_figures();
      note_figures();
      tell_all([](ClientSession& session) { session.tell_telemetry(); });
    });
  }

  void note_figures() {
    const auto now = std::chrono::steady_clock::now();
    const std::uint64_t frames = frames_.load(std::memory_order_relaxed);
    const double seconds = std::chrono::duration<double>(now - counted_at_).count();
    state_.telemetry = fmt::format(
        R"({{"frames_per_second":{:.3f},"frames_published":{},"frames_dropped":{},"latency_seconds":{:.6f},"clients":{},"images_skipped":{}}})",
        static_cast<double>(frames - counted_) / seconds, published_.load(std::memory_order_relaxed),
        frames_dropped_.load(std::memory_order_relaxed), 1e-9 * static_cast<double>(latency_.load(std::memory_order_relaxed)),
        state_.sessions.size(), dropped());
    counted_ = frames;
    counted_at_ = now;
  }

  void run() {
    for (;;) {
      try {
        context_.run();
        return;
      } catch (const std::exception& error) {
        spdlog::error("OpenIGTLink: {}", error.what());  // that connection is lost; the others go on
      }
    }
  }

  openigtlink::LinkState state_;          // outlives the sessions, which live in the handlers of context_
  std::atomic<std::uint64_t> frames_{0};  // frames that this sink was given
  std::atomic<std::uint64_t> published_{0};
  std::atomic<std::uint64_t> frames_dropped_{0};
  std::atomic<std::int64_t> latency_{0};
  std::uint64_t counted_ = 0;  // used by the server's thread only
  std::chrono::steady_clock::time_point counted_at_ = std::chrono::steady_clock::now();
  // Memory of the one wake-up that may be under way, so that the pipeline's thread does not allocate to send it. The pipeline's
  // thread takes it and the server's thread returns it; wake_under_way_ orders the two.
  HandlerMemory wake_memory_;
  std::atomic<bool> wake_under_way_{false};
  asio::io_context context_{1};
  PeerListener listener_{context_};
  asio::steady_timer second_{context_};
  asio::steady_timer telemetry_{context_};
  tcp::endpoint endpoint_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<OpenIgtlinkSink> make_openigtlink_sink(const OpenIgtlinkSinkOptions& options) {
  return std::make_unique<OpenIgtlinkSinkImplementation>(options);
}

}  // namespace echoform
