#include "transport/acquisition/zeromq_source.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <thread>
#include <utility>

#include "base/errors.hpp"
#include "base/wake_bell.hpp"
#include "transport/acquisition/live_counters.hpp"
#include "transport/acquisition/message_handler.hpp"
#include "transport/zeromq/socket.hpp"

namespace echoform {
namespace {

/// Number of messages that are taken before time-outs and a stop are checked again.
constexpr int messages_at_once = 64;
/// An upper bound of the bytes that CURVE adds to a message.
constexpr std::size_t encryption_bytes = 128;

void check_range(const char* name, std::uint64_t value, std::uint64_t lowest, std::uint64_t highest) {
  if (value < lowest || value > highest) {
    throw InputError(fmt::format("ZeroMQ source {}", name), fmt::format("{}", value), fmt::format("{} to {}", lowest, highest));
  }
}

class Puller final : public ZeromqSource {
 public:
  Puller(const ZeromqSourceOptions& options, const Clock& clock)
      : options_(options), clock_(clock), warnings_(clock), context_(options.keys) {
    static_cast<void>(tcp_endpoint(options.address, options.port));
    constexpr std::uint64_t day = 24ULL * 3600 * 1000;
    check_range("idle_timeout in ms", static_cast<std::uint64_t>(options.idle_timeout.count()), 1, day);
    check_range("tick in ms", static_cast<std::uint64_t>(options.tick.count()), 1, 10000);
    check_range("maximum_connections", options.maximum_connections, 1, 4096);
  }

  ~Puller() override { stop(); }

  void start(StreamHost& host) override {
    BindOptions bound{.type = zmq::socket_type::pull, .what = "acquisition", .address = options_.address, .port = options_.port};
    bound.message_limit = static_cast<std::int64_t>(longest_message(options_.limits) + encryption_bytes);
    bound.signs_of_life = SignsOfLife::keep_alive;
    bound.receive_queue = waiting_messages(options_.limits);
    // The messages that may wait, the message being received, and the two partial messages at the ends of the interval counted.
    bound.limits.between_messages =
        (static_cast<std::uint64_t>(bound.receive_queue) + 2) * static_cast<std::uint64_t>(bound.message_limit);
    bound.limits.peers.connections = options_.maximum_connections;
    bound.limits.peers.per_address = options_.maximum_connections;
    socket_ = bind_socket(context_, bound);
    port_ = bound_port(socket_);
    MessageHandlerOptions handling{.name = describe(), .token = options_.token, .limits = options_.limits};
    handling.idle_timeout = options_.idle_timeout;
    handler_.emplace(std::move(handling), host, clock_, counters_, warnings_, [this] { bell_.ring(); });
    thread_ = std::thread([this] {
      pthread_setname_np(pthread_self(), "acquisition-zmq");
      run();
    });
    spdlog::info("listening for acquisition on {}", describe());
  }

  void stop() override {
    if (!thread_.joinable()) return;
    stopping_ = true;
    bell_.ring();
    thread_.join();
    handler_->close();
    parts_ = {};
    socket_.close();
  }

  [[nodiscard]] std::string_view name() const noexcept override { return "zeromq"; }
  [[nodiscard]] std::string describe() const override {
    const std::string endpoint = tcp_endpoint(options_.address, port());
    return fmt::format("zeromq {}", endpoint.substr(endpoint.find("//") + 2));
  }
  [[nodiscard]] std::uint16_t port() const noexcept override {
    const auto bound = port_.load();
    return bound != 0 ? bound : options_.port;
  }
  [[nodiscard]] SourceCounters counters() const noexcept override { return counters_.read(); }
  [[nodiscard]] std::string last_rejection() const override { return counters_.last_rejection(); }
  [[nodiscard]] const PeerCounters* peers() const noexcept override { return &context_.peers(); }

 private:
  void run() {
    bool waiting = false;
    while (!stopping_) {
      try {
        std::array<zmq::pollitem_t, 2> items{
            {{nullptr, bell_.descriptor(), ZMQ_POLLIN, 0}, {socket_.handle(), 0, ZMQ_POLLIN, 0}}};
        zmq::poll(items.data(), waiting ? 1 : 2, options_.tick);
        bell_.silence();
        if (waiting) waiting = handler_->resume() == MessageHandler::Verdict::wait;
        for (int i = 0; !waiting && i < messages_at_once; ++i) {
          const auto verdict = take_one();
          if (!verdict) break;
          waiting = *verdict == MessageHandler::Verdict::wait;
        }
        handler_->tick();
      } catch (const zmq::error_t& error) {
        if (error.num() == EINTR) continue;
        spdlog::error("{}: {}; nothing more is received", describe(), error.what());
        return;
      }
    }
  }

  /// Takes one message; returns nothing if none is there. Parts beyond the second are discarded, but the handler sees that there
  /// were some.
  std::optional<MessageHandler::Verdict> take_one() {
    std::size_t count = 0;
    bool more = true;
    while (more) {
      zmq::message_t& part = parts_[std::min(count, parts_.size() - 1)];
      if (!socket_.recv(part, zmq::recv_flags::dontwait)) return std::nullopt;
      more = part.more();
      if (!more) context_.took(part);
      ++count;
    }
    std::array<std::span<const std::byte>, 3> bytes;
    count = std::min(count, parts_.size());
    for (std::size_t i = 0; i < count; ++i) bytes[i] = {static_cast<const std::byte*>(parts_[i].data()), parts_[i].size()};
    return handler_->take(std::span(bytes).first(count));
  }

  const ZeromqSourceOptions options_;
  const Clock& clock_;
  LiveSourceCounters counters_;
  PeerWarnings warnings_;
  const WakeBell bell_{"ZeroMQ source"};
  ZeromqContext context_;
  zmq::socket_t socket_;                 // made by start(), then used by the thread alone until it ends
  std::array<zmq::message_t, 3> parts_;  // of the message being handled
  std::optional<MessageHandler> handler_;
  std::atomic<std::uint16_t> port_{0};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace

std::unique_ptr<ZeromqSource> make_zeromq_source(const ZeromqSourceOptions& options, const Clock& clock) {
  return std::make_unique<Puller>(options, clock);
}

std::unique_ptr<ZeromqSource> make_zeromq_source(const ZeromqSourceOptions& options) {
  static const SystemClock system;
  return make_zeromq_source(options, system);
}

std::size_t longest_message(const AcquisitionLimits& limits) noexcept {
  constexpr std::size_t longest_sample = 4;
  const std::size_t shot = std::min(limits.frame_bytes, limits.elements * limits.samples * longest_sample);
  return prefix_bytes + std::max(maximum_hello_bytes, maximum_header_bytes + shot);
}

int waiting_messages(const AcquisitionLimits& limits) noexcept {
  return static_cast<int>(std::clamp<std::size_t>(limits.frame_bytes / longest_message(limits), 2, 1000));
}

}  // namespace echoform
