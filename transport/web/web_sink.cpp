#include "transport/web/web_sink.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <boost/asio/ip/host_name.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <thread>

#include "base/descriptors.hpp"
#include "base/errors.hpp"
#include "transport/acquisition/handler_memory.hpp"
#include "transport/peers/peer_listener.hpp"
#include "transport/web/request_rules.hpp"
#include "transport/web/tls.hpp"
#include "transport/web/web_server.hpp"

namespace echoform {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

tcp::endpoint endpoint_of(const WebSinkOptions& options) {
  error_code error;
  const auto address = asio::ip::make_address(options.address, error);
  if (error) throw InputError("web address", fmt::format("\"{}\"", options.address), "an IPv4 or IPv6 address");
  return {address, options.port};
}

std::string url_of(const tcp::endpoint& endpoint, bool encrypted) {
  const std::string_view scheme = encrypted ? "https" : "http";
  asio::ip::address address = endpoint.address();
  if (address.is_unspecified()) address = asio::ip::make_address("127.0.0.1");
  return address.is_v6() ? fmt::format("{}://[{}]:{}/", scheme, address.to_string(), endpoint.port())
                         : fmt::format("{}://{}:{}/", scheme, address.to_string(), endpoint.port());
}

class WebSinkImplementation final : public WebSink {
 public:
  explicit WebSinkImplementation(const WebSinkOptions& options) : state_(options) {
    state_.replies = &replies_;
    if (options.tls_certificate.empty() != options.tls_key.empty()) {
      throw InputError("[server] tls_certificate and tls_key", "one of them", "both, or neither for plain HTTP");
    }
    if (!options.tls_certificate.empty()) state_.tls = make_tls_context(options.tls_certificate, options.tls_key);
    listen(endpoint_of(options));
    error_code error;
    const std::string own = asio::ip::host_name(error);
    if (!error) state_.options.host_names.push_back(own);
    listener_.accept([this](tcp::socket socket, const asio::ip::address& peer) { welcome(std::move(socket), peer); });
    thread_ = std::thread([this] { run(); });
  }

  ~WebSinkImplementation() override {
    context_.stop();
    thread_.join();
  }

  void setup_changed(std::shared_ptr<const ImagingSetup> setup) override { state_.board.set_setup(*setup); }

  void publish(const FinishedFrame& frame) noexcept override {
    last_frame_.store(frame.publish_time.count(), std::memory_order_relaxed);
    if (!state_.board.publish(frame)) return;
    if (wake_under_way_.exchange(true, std::memory_order_acq_rel)) return;
    asio::post(context_, HandlerWithMemory(wake_memory_, [this] {
                 // asio gives the memory back before it calls.
                 wake_under_way_.store(false, std::memory_order_release);
                 offer_news(state_);
               }));
  }

  bool wants_envelope() noexcept override { return state_.board.wants_envelope(); }
  std::string describe() const override { return url_; }
  std::uint16_t port() const noexcept override { return port_; }
  std::string url() const override {
    return state_.options.token.empty() ? url_ : url_ + "?token=" + escape_query(state_.options.token);
  }
  WallTime last_frame_time() const noexcept override { return WallTime(last_frame_.load(std::memory_order_relaxed)); }
  void set_metrics(std::function<std::string()> text) override {
    const std::lock_guard lock(state_.metrics_mutex);
    state_.metrics = std::move(text);
  }
  void set_control(std::function<void(std::string, ControlAnswer)> control) override {
    const std::lock_guard lock(state_.metrics_mutex);
    state_.control = std::move(control);
  }
  std::size_t viewers() const noexcept override { return state_.viewer_count.load(std::memory_order_relaxed); }
  std::uint64_t viewer_dropped() const noexcept override { return state_.viewer_dropped.load(std::memory_order_relaxed); }
  const PeerCounters& peers() const noexcept override { return state_.peers; }
  std::size_t image_buffers() const override { return state_.board.buffers(); }

 private:
  void listen(const tcp::endpoint& endpoint) {
    listener_.listen(endpoint, "web server", url_of(endpoint, state_.tls != nullptr));
    port_ = listener_.endpoint().port();
    url_ = url_of({endpoint.address(), port_}, state_.tls != nullptr);
    if (!peer_network(endpoint.address()).is_loopback() && (!state_.tls || state_.options.token.empty())) {
      spdlog::warn("web server: {} is open to every host that reaches it, {}", url_,
                   state_.tls ? "without a token: [server] token asks for one"
                              : "without encryption: [server] tls_certificate and token protect it");
    }
  }

  void welcome(tcp::socket socket, const asio::ip::address& peer) {
    state_.peers.accepted.fetch_add(1, std::memory_order_relaxed);
    if (const auto refusal = state_.book.enter(peer, std::chrono::steady_clock::now())) {
      state_.refuse(*refusal, peer);
      return;
    }
    ConnectionCount count(state_, peer);
    if (fewer_descriptors_left(socket.native_handle(), descriptors_for_control)) {
      state_.refuse(PeerRefusal::no_descriptors, peer);
      if (!state_.waiting.empty()) state_.waiting.front()->yield();
      return turn_away(socket);
    }
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    if (state_.connections > state_.options.connections) {
      if (state_.waiting.empty()) {
        state_.refuse(PeerRefusal::too_many, peer);
        return turn_away(socket);
      }
      // The yielding session is gone as soon as the operation that it waits for reports the cancellation.
      state_.waiting.front()->yield();
    }
    serve_http(state_, std::move(socket), std::move(count));
  }

  void turn_away(tcp::socket& socket) const {
    if (state_.tls) return;
    // The few bytes always fit into the buffer of a fresh socket.
    error_code ignored;
    socket.non_blocking(true, ignored);
    socket.send(
        asio::buffer(std::string_view("HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")), 0,
        ignored);
  }

  void run() {
    for (;;) {
      try {
        context_.run();
        return;
      } catch (const std::exception& error) {
        spdlog::error("web server: {}", error.what());  // that connection is lost; the others go on
      }
    }
  }

  WebState state_;  // outlives the sessions, which live in the handlers of context_
  std::atomic<std::int64_t> last_frame_{0};
  // Memory of the one wake-up that may be under way, so that the pipeline's thread does not allocate to send it. The pipeline's
  // thread takes it and the server's thread returns it; wake_under_way_ orders the two.
  HandlerMemory wake_memory_;
  std::atomic<bool> wake_under_way_{false};
  asio::io_context context_{1};
  PendingReplies replies_{context_};  // sessions wait in it for answers: they are destroyed before the context
  PeerListener listener_{context_};
  std::uint16_t port_ = 0;
  std::string url_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<WebSink> make_web_sink(const WebSinkOptions& options) {
  return std::make_unique<WebSinkImplementation>(options);
}

}  // namespace echoform
