#include "transport/acquisition/tcp_source.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <spdlog/spdlog.h>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>

#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "base/descriptors.hpp"
#include "base/errors.hpp"
#include "transport/acquisition/source_state.hpp"
#include "transport/acquisition/tcp_session.hpp"
#include "transport/peers/peer_book.hpp"

namespace echoform {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Counters = LiveSourceCounters;

void check_range(const char* name, std::uint64_t value, std::uint64_t lowest, std::uint64_t highest) {
  if (value < lowest || value > highest) {
    throw InputError(fmt::format("TCP source {}", name), fmt::format("{}", value), fmt::format("{} to {}", lowest, highest));
  }
}

class Server final : public TcpSource {
 public:
  Server(const TcpSourceOptions& options, const Clock& clock) : state_(std::make_shared<SourceState>(options, clock)) {
    error_code error;
    address_ = asio::ip::make_address(options.address, error);
    if (error) throw InputError("TCP source address", '"' + options.address + '"', "an IPv4 or IPv6 address of this machine");
    constexpr std::uint64_t day = 24ULL * 3600 * 1000;
    const auto milliseconds = [](std::chrono::milliseconds time) { return static_cast<std::uint64_t>(time.count()); };
    check_range("hello_timeout in ms", milliseconds(options.hello_timeout), 1, day);
    check_range("stall_timeout in ms", milliseconds(options.stall_timeout), 0, day);
    check_range("message_timeout in ms", milliseconds(options.message_timeout), 0, day);
    check_range("idle_timeout in ms", milliseconds(options.idle_timeout), 0, day);
    check_range("tick in ms", milliseconds(options.tick), 1, 10000);
    check_range("io_threads", options.io_threads, 1, 64);
    check_range("maximum_connections", options.maximum_connections, 1, 4096);
    check_range("socket_buffer_bytes", options.socket_buffer_bytes, 0, 1U << 30);
  }

  ~Server() override { stop(); }

  void start(StreamHost& host) override {
    state_->host = &host;
    for (std::size_t i = 0; i < state_->options.io_threads; ++i) threads_.push_back(std::make_shared<IoThread>());
    listen();
    for (const auto& thread : threads_) {
      arm_tick(thread);
      thread->thread = std::thread([thread] {
        pthread_setname_np(pthread_self(), "acquisition-io");
        thread->context.run();
      });
    }
    asio::post(*state_->hello_reader, [] { pthread_setname_np(pthread_self(), "hello-reader"); });
    asio::post(*state_->set_up, [] { pthread_setname_np(pthread_self(), "set-up"); });
    accept();
    spdlog::info("listening for acquisition on {}", describe());
  }

  void stop() override {
    if (threads_.empty() || std::exchange(stopped_, true)) return;
    // The Hello being read and the stream being opened are awaited; those queued behind them are dropped.
    asio::post(threads_.front()->context, [this] {
      error_code ignored;
      acceptor_->close(ignored);
      retry_->cancel();
    });
    for (auto* const pool : {&*state_->hello_reader, &*state_->set_up}) {
      pool->stop();
      pool->join();
    }
    for (const auto& thread : threads_) {
      asio::post(thread->context, [thread] {
        const auto sessions = thread->sessions;
        for (const auto& session : sessions) session->close();
        thread->timer.cancel();
        thread->closing = true;
        thread->work.reset();
      });
    }
    for (const auto& thread : threads_) {
      if (thread->thread.joinable()) thread->thread.join();
    }
    // Handlers that were posted to a thread that had just ended still hold the thread object. They run here.
    for (const auto& thread : threads_) {
      thread->context.restart();
      thread->context.poll();
    }
    // Nobody posts any more. Hellos that still wait hold their sessions, and the sessions hold the state that owns these pools.
    state_->hello_reader.reset();
    state_->set_up.reset();
    acceptor_.reset();
    retry_.reset();
  }

  void dismiss(const std::string& reason) override {
    for (const auto& thread : threads_) {
      asio::post(thread->context, [thread, reason] {
        const auto sessions = thread->sessions;
        for (const auto& session : sessions) session->dismiss(reason);
      });
    }
  }

  [[nodiscard]] std::string_view name() const noexcept override { return "tcp"; }
  [[nodiscard]] std::string describe() const override { return fmt::format("tcp {}", place(port())); }
  [[nodiscard]] std::uint16_t port() const noexcept override {
    const auto bound = port_.load();
    return bound != 0 ? bound : state_->options.port;
  }

  [[nodiscard]] const PeerCounters* peers() const noexcept override { return &state_->peers; }
  [[nodiscard]] SourceCounters counters() const noexcept override { return state_->counters.read(); }
  [[nodiscard]] std::string last_rejection() const override { return state_->counters.last_rejection(); }

 private:
  [[nodiscard]] std::string place(std::uint16_t number) const {
    return address_.is_v6() ? fmt::format("[{}]:{}", address_.to_string(), number)
                            : fmt::format("{}:{}", address_.to_string(), number);
  }

  void listen() {
    const TcpSourceOptions& options = state_->options;
    acceptor_.emplace(threads_.front()->context);
    retry_.emplace(threads_.front()->context);
    const tcp::endpoint endpoint(address_, options.port);
    const auto check = [&](const error_code& error) {
      if (!error) return;
      acceptor_.reset();
      retry_.reset();
      threads_.clear();
      throw RuntimeFault(fmt::format("cannot listen for acquisition on {}: {}", place(options.port), error.message()));
    };
    error_code error;
    acceptor_->open(endpoint.protocol(), error);
    check(error);
    acceptor_->set_option(tcp::acceptor::reuse_address(true), error);
    // The size is set before listen(), so that the window is negotiated with it; accepted sockets inherit it.
    if (options.socket_buffer_bytes > 0) {
      acceptor_->set_option(asio::socket_base::receive_buffer_size(static_cast<int>(options.socket_buffer_bytes)), error);
    }
    acceptor_->bind(endpoint, error);
    check(error);
    acceptor_->listen(asio::socket_base::max_listen_connections, error);
    check(error);
    port_ = acceptor_->local_endpoint().port();
  }

  void accept() {
    const auto& thread = threads_[next_thread_++ % threads_.size()];
    acceptor_->async_accept(thread->context, arriving_, [this, thread](const error_code& error, tcp::socket socket) {
      if (!acceptor_->is_open()) return;
      if (!error) {
        if (!may_come(socket, arriving_.address())) return accept();
        asio::post(thread->context, [this, thread, from = arriving_, moved = std::move(socket)]() mutable {
          welcome(thread, std::move(moved), from);
        });
        return accept();
      }
      // File descriptors are probably exhausted; other connections may close and free some.
      state_->warn(PeerWarning::not_accepted,
                   [&] { return fmt::format("cannot accept a connection on {}: {}", describe(), error.message()); });
      retry_->expires_after(std::chrono::milliseconds(100));
      retry_->async_wait([this](const error_code& cancelled) {
        if (!cancelled && acceptor_->is_open()) accept();
      });
    });
  }

  void welcome(const std::shared_ptr<IoThread>& thread, tcp::socket socket, const tcp::endpoint& from) {
    if (thread->closing) return;
    const std::size_t maximum = state_->options.maximum_connections;
    const auto session = std::make_shared<TcpSession>(state_, thread, std::move(socket), from);
    thread->sessions.push_back(session);
    if (state_->counters.open.fetch_add(1) < maximum || make_room()) return session->start();
    state_->counters.open.fetch_sub(1);
    state_->warn(PeerWarning::too_many,
                 [&] { return fmt::format("too many connections on {}: {} are open", describe(), maximum); });
    session->refuse(fmt::format("connections: found {} open; expected at most {}", maximum + 1, maximum));
  }

  [[nodiscard]] bool make_room() {
    auto oldest = state_->strangers.oldest();
    if (!oldest) return false;
    auto& context = oldest->thread().context;
    asio::post(context, [session = std::move(oldest)] { session->give_way(); });
    return true;
  }

  // Runs on the acceptor's thread.
  [[nodiscard]] bool may_come(tcp::socket& socket, const asio::ip::address& from) {
    state_->peers.accepted.fetch_add(1, std::memory_order_relaxed);
    const PeerBook::Time now{std::chrono::duration_cast<PeerBook::Time::duration>(state_->clock.steady())};
    if (const auto refusal = arrivals_.enter(from, now)) {
      Counters::add(state_->counters.rejected);
      state_->peers.refuse(*refusal);
      state_->warn(PeerWarning::too_often, [&] { return fmt::format("{}: connects too often", from.to_string()); });
      return false;
    }
    if (fewer_descriptors_left(socket.native_handle(), descriptors_for_control)) {
      arrivals_.leave(from);
      Counters::add(state_->counters.rejected);
      state_->peers.refuse(PeerRefusal::no_descriptors);
      state_->warn(PeerWarning::no_descriptors,
                   [&] { return fmt::format("{}: no file descriptors are left for it", from.to_string()); });
      static_cast<void>(make_room());  // for the next connection
      return false;
    }
    arrivals_.leave(from);  // welcome() limits the number of simultaneous connections
    return true;
  }

  void arm_tick(const std::shared_ptr<IoThread>& thread) {
    thread->timer.expires_after(state_->options.tick);
    thread->timer.async_wait(HandlerWithMemory(thread->tick_memory, [this, thread](const error_code& cancelled) {
      if (cancelled || thread->closing) return;
      const SteadyTime now = state_->clock.steady();
      FrameIntake* expired = nullptr;
      // The loop runs backwards because a session that closes leaves the list.
      for (std::size_t i = thread->sessions.size(); i-- > 0;) {
        if (i >= thread->sessions.size()) continue;
        const auto session = thread->sessions[i];
        if (session->intake() != nullptr && session->intake() != expired) {
          expired = session->intake();
          try {
            expired->expire();
          } catch (const std::exception& error) {
            spdlog::error("acquisition on {}: {}", describe(), error.what());
          }
        }
        session->tick(now);
      }
      arm_tick(thread);
    }));
  }

  std::shared_ptr<SourceState> state_;
  asio::ip::address address_;
  std::vector<std::shared_ptr<IoThread>> threads_;
  std::optional<tcp::acceptor> acceptor_;
  std::optional<asio::steady_timer> retry_;
  // Address of the connection that is accepted next: a socket whose peer has gone does not report it any more.
  tcp::endpoint arriving_;
  std::size_t next_thread_ = 0;
  PeerBook arrivals_{PeerLimits{}};
  std::atomic<std::uint16_t> port_{0};
  bool stopped_ = false;
};

}  // namespace

std::unique_ptr<TcpSource> make_tcp_source(const TcpSourceOptions& options, const Clock& clock) {
  return std::make_unique<Server>(options, clock);
}

std::unique_ptr<TcpSource> make_tcp_source(const TcpSourceOptions& options) {
  static const SystemClock system;
  return make_tcp_source(options, system);
}

}  // namespace echoform
