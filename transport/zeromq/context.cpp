#include "transport/zeromq/context.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/descriptors.hpp"
#include "base/errors.hpp"
#include "base/heap.hpp"
#include "base/log_limit.hpp"
#include "transport/zeromq/socket.hpp"
#include "transport/zeromq/zap.hpp"

namespace echoform {

namespace {

/// libzmq hands out parts of 34 bytes and more as views of the 18 KB that it read them into, and reads into new ones: a peer that
/// sends such parts one by one, of a message without an end, would cost 500 times what it sends. Copied, a part costs at most 32
/// times its bytes (64 for an empty one of 2). Frames' samples are longer than what is read at once, and as quick.
void keep_no_buffers(zmq::context_t& context) {
  // ZMQ_ZERO_COPY_RECV: known to libzmq 4.3, but not to the headers of all.
  constexpr int zero_copy_receive = 10;
  if (::zmq_ctx_set(context.handle(), zero_copy_receive, 0) != 0) {
    spdlog::warn("ZeroMQ: this libzmq keeps whole buffers for parts of messages; peers may take more memory than they should");
  }
}

}  // namespace

struct ZeromqContext::Implementation {
  explicit Implementation(std::optional<CurveServerKeys> given) : keys(std::move(given)) {
    if (keys && !curve_available()) {
      throw InputError("[curve] secret_key_file", "a key, and a libzmq without CURVE", "a libzmq that was built with libsodium");
    }
    require_descriptors(descriptors_of_a_context, "ZeroMQ");
    keep_no_buffers(context);
    wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake < 0) throw RuntimeFault("ZeroMQ: no eventfd");
    if (keys) {
      questions = zmq::socket_t(context, zmq::socket_type::rep);
      questions.set(zmq::sockopt::linger, 0);
      questions.bind(zap_endpoint);
    }
    thread = std::thread([this] {
      pthread_setname_np(pthread_self(), "zeromq-guard");
      run();
    });
  }

  ~Implementation() {
    stopping = true;
    ring();
    thread.join();
    ::close(wake);
  }

  void ring() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wake, &one, sizeof one);
  }

  void run() {
    using SteadyClock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds tick{100};
    auto last_tick = SteadyClock::now();
    auto next_task = SteadyClock::now() + std::chrono::seconds(1);
    std::vector<zmq::pollitem_t> items;
    while (!stopping) {
      try {
        take_newcomers();
        items.assign(1, {nullptr, wake, ZMQ_POLLIN, 0});
        if (questions) items.push_back({questions.handle(), 0, ZMQ_POLLIN, 0});
        for (const auto& watch : watches) {
          items.push_back({watch->events().handle(), 0, ZMQ_POLLIN, 0});
          items.push_back({nullptr, watch->epoll(), ZMQ_POLLIN, 0});
        }
        zmq::poll(items, watches.empty() ? std::chrono::milliseconds(-1) : tick);
        std::uint64_t rings = 0;
        [[maybe_unused]] const auto read = ::read(wake, &rings, sizeof rings);
        if (questions) answer();
        std::erase_if(watches, [](const auto& watch) { return !watch->read_events(); });
        const bool drop = drop_wanted.exchange(false);
        for (const auto& watch : watches) {
          watch->look();
          if (drop) watch->drop_loudest();
        }
        if (const auto now = SteadyClock::now(); now - last_tick >= tick) {
          for (const auto& watch : watches) watch->tick(now - last_tick);
          last_tick = now;
          if (now >= next_task) {
            next_task = now + std::chrono::seconds(1);
            do_task();
            give_back();
          }
        }
      } catch (const zmq::error_t& error) {
        if (error.num() == EINTR) continue;
        spdlog::error("ZeroMQ guard: {}", error.what());
        if (error.num() == ETERM || error.num() == ENOTSOCK) break;
      } catch (const std::exception& error) {
        spdlog::error("ZeroMQ guard: {}", error.what());
      }
    }
    watches.clear();
    newcomers.clear();
    questions.close();
  }

  void do_task() {
    const std::lock_guard lock(task_mutex);
    if (task) task();
  }

  // What peers that have gone made libzmq keep lies all over the heap. Not while more of them go: whoever publishes would wait
  // again and again.
  void give_back() {
    constexpr std::uint64_t worth_it = 8 << 20;
    std::uint64_t more = 0;
    for (const auto& watch : watches) more += watch->freed();
    freed += more;
    if (freed < worth_it || more >= worth_it / 8) return;
    freed = 0;
    give_back_free_memory(worth_it);
  }

  void take_newcomers() {
    const std::lock_guard lock(mutex);
    for (auto& newcomer : newcomers) watches.push_back(std::move(newcomer));
    newcomers.clear();
  }

  // A REP socket takes one question after the other.
  void answer() {
    for (;;) {
      std::vector<zmq::message_t> question;
      bool more = true;
      while (more) {
        zmq::message_t part;
        if (!questions.recv(part, zmq::recv_flags::dontwait)) return;
        more = part.more();
        if (question.size() < 16) question.push_back(std::move(part));
      }
      const ZapVerdict verdict = judge(question, *keys);
      if (verdict.status != "200") {
        counters.refuse(PeerRefusal::wrong_key);
        if (const auto left_out = wrong_keys.admit(std::chrono::steady_clock::now().time_since_epoch())) {
          spdlog::warn("ZeroMQ: a client from {} was refused: its key is not among those of [curve] client_keys{}",
                       verdict.address, left_out_text(*left_out));
        }
      }
      const auto send = [&](std::string_view text, bool last = false) {
        (void)questions.send(zmq::buffer(text), last ? zmq::send_flags::none : zmq::send_flags::sndmore);
      };
      send("1.0");
      send(verdict.request_id);
      send(verdict.status);
      send(verdict.text);
      send(verdict.user);
      send("", true);
    }
  }

  const std::optional<CurveServerKeys> keys;
  const std::shared_ptr<PeerCounters> shared_counters = std::make_shared<PeerCounters>();
  PeerCounters& counters = *shared_counters;
  zmq::context_t context{1};
  zmq::socket_t questions;  // made here, the thread's from then on
  int wake = -1;
  std::atomic<bool> stopping{false};
  std::atomic<bool> drop_wanted{false};
  MessageMarks marks;
  std::mutex task_mutex;
  std::function<void()> task;  // under its mutex
  std::mutex mutex;
  std::vector<std::unique_ptr<PeerWatch>> newcomers;  // under its mutex
  std::size_t watched = 0;                            // under its mutex
  std::vector<std::unique_ptr<PeerWatch>> watches;    // the thread's
  LogLimit wrong_keys;
  std::uint64_t freed = 0;  // bytes that peers that have gone took, since memory was last given back
  std::thread thread;
};

ZeromqContext::ZeromqContext(std::optional<CurveServerKeys> keys)
    : implementation_(std::make_unique<Implementation>(std::move(keys))) {}
ZeromqContext::~ZeromqContext() = default;

zmq::context_t& ZeromqContext::raw() noexcept {
  return implementation_->context;
}

bool ZeromqContext::encrypted() const noexcept {
  return implementation_->keys.has_value();
}

const ZeromqPeerCounters& ZeromqContext::peers() const noexcept {
  return implementation_->counters;
}

std::shared_ptr<const PeerCounters> ZeromqContext::shared_peers() const noexcept {
  return implementation_->shared_counters;
}

void ZeromqContext::drop_loudest() {
  implementation_->drop_wanted = true;
  implementation_->ring();
}

void ZeromqContext::took(zmq::message_t& last_part) noexcept {
  implementation_->marks.note(last_part);
}

void ZeromqContext::every_second(std::function<void()> task) {
  const std::lock_guard lock(implementation_->task_mutex);
  implementation_->task = std::move(task);
}

void ZeromqContext::guard(zmq::socket_t& socket, const std::string& door, const ZeromqPeerLimits& limits,
                          const std::string& endpoint) {
  auto& self = *implementation_;
  if (self.keys) {
    socket.set(zmq::sockopt::curve_server, true);
    socket.set(zmq::sockopt::curve_secretkey, zmq::const_buffer(self.keys->secret_key.data(), self.keys->secret_key.size()));
    socket.set(zmq::sockopt::zap_domain, zap_domain);
    // No answer is a no. The option is known to every libzmq 4.3, but not to the headers of all.
    constexpr int enforce_domain = 93;
    const int yes = 1;
    if (::zmq_setsockopt(socket.handle(), enforce_domain, &yes, sizeof yes) != 0) throw zmq::error_t();
  }
  std::string name;
  {
    const std::lock_guard lock(self.mutex);
    name = fmt::format("peers-{}", ++self.watched);
  }
  auto watch = std::make_unique<PeerWatch>(self.context, socket, name, door, limits, encrypted(), self.marks, self.counters);
  socket.bind(endpoint);
  watch->bound_to(bound_port(socket));
  {
    const std::lock_guard lock(self.mutex);
    self.newcomers.push_back(std::move(watch));
  }
  self.ring();
}

}  // namespace echoform
