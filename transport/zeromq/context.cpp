#include "transport/zeromq/context.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/descriptors.hpp"
#include "base/errors.hpp"
#include "base/heap.hpp"
#include "base/log_limit.hpp"
#include "base/thread_limits.hpp"
#include "transport/zeromq/socket.hpp"
#include "transport/zeromq/zap.hpp"

namespace echoform {

namespace {

/// Number of newcomers that are admitted before the previous ones have been taken.
constexpr int newcomers_at_once = 4;

/// libzmq passes parts of 34 bytes and more on as views of the 18 KB buffer that it read them into, and then reads into a new
/// buffer. A peer that sends such parts one by one, of a message without an end, would cost 500 times the memory of what it
/// sends. If parts are copied, a part costs at most 32 times its bytes (64 times for an empty part, of 2 bytes). Samples of
/// frames are longer than what is read at once, and are as fast as before.
void keep_no_buffers(zmq::context_t& context) {
  // ZMQ_ZERO_COPY_RECV: libzmq 4.3 knows the option, but some versions of its headers do not.
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
    require_threads_and_memory(threads_of_a_context, bytes_of_a_context, "ZeroMQ");
    keep_no_buffers(context);
    wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake < 0) throw RuntimeFault("ZeroMQ: no eventfd");
    // A ROUTER reports whether the peer that asked is still there.
    questions = zmq::socket_t(context, zmq::socket_type::router);
    questions.set(zmq::sockopt::router_mandatory, true);
    questions.set(zmq::sockopt::linger, 0);
    questions.bind(zap_endpoint);
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
    auto next_return = SteadyClock::now() + std::chrono::seconds(1);
    std::vector<zmq::pollitem_t> items;
    while (!stopping) {
      try {
        take_newcomers();
        items.assign(1, {nullptr, wake, ZMQ_POLLIN, 0});
        if (newcomers_left != 0) items.push_back({questions.handle(), 0, ZMQ_POLLIN, 0});
        for (const auto& watch : watches) {
          items.push_back({watch->events().handle(), 0, ZMQ_POLLIN, 0});
          items.push_back({nullptr, watch->epoll(), ZMQ_POLLIN, 0});
        }
        zmq::poll(items, watches.empty() ? std::chrono::milliseconds(-1) : tick);
        std::uint64_t rings = 0;
        [[maybe_unused]] const auto read = ::read(wake, &rings, sizeof rings);
        read_events();
        answer();
        const bool drop = drop_wanted.exchange(false);
        for (const auto& watch : watches) {
          watch->look();
          if (drop) watch->drop_loudest();
        }
        if (const auto now = SteadyClock::now(); now - last_tick >= tick) {
          for (const auto& watch : watches) watch->tick(now - last_tick);
          last_tick = now;
          if (now >= next_return) {
            next_return = now + std::chrono::seconds(1);
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

  void read_events() {
    std::erase_if(watches, [](const auto& watch) { return !watch->read_events(); });
  }

  // Memory that libzmq kept for peers that have gone is spread over the heap. libzmq frees it in its own time: on a busy machine,
  // seconds after they have gone. So this checks repeatedly for a while. It checks less often while more peers leave, because
  // threads that allocate memory wait for the check.
  void give_back() {
    constexpr std::uint64_t worth_it = 8 << 20;
    constexpr int looks = 20;
    constexpr int apart = 4;
    std::uint64_t more = 0;
    for (const auto& watch : watches) more += watch->freed();
    freed += more;
    if (freed >= worth_it) {
      freed = 0;
      looks_left = looks;
    }
    if (looks_left == 0) return;
    --looks_left;
    if (more < worth_it / 8 || ++looks_left_out == apart) {
      looks_left_out = 0;
      give_back_free_memory(worth_it);
    }
  }

  void take_newcomers() {
    const std::lock_guard lock(mutex);
    for (auto& newcomer : newcomers) watches.push_back(std::move(newcomer));
    newcomers.clear();
  }

  // libzmq takes no message of a peer before it has the answer to its ZAP request, and it reports the peer before it asks. So a
  // peer that is one too many is cut off before the answer, when it has sent no message.
  void answer() {
    while (newcomers_left != 0) {
      std::vector<zmq::message_t> question;
      bool more = true;
      while (more) {
        zmq::message_t part;
        if (!questions.recv(part, zmq::recv_flags::dontwait)) return;
        more = part.more();
        if (question.size() < 16) question.push_back(std::move(part));
      }
      // The first two parts are the identity of the asker and the empty part that a REQ puts before its request.
      if (question.size() < 2) continue;
      const zmq::message_t peer = std::move(question.front());
      question.erase(question.begin(), question.begin() + 2);
      take_newcomers();
      read_events();
      const ZapVerdict verdict = keys ? judge(question, *keys) : judge_without_keys(question);
      if (keys && verdict.status != "200") {
        counters.refuse(PeerRefusal::wrong_key);
        if (const auto left_out = wrong_keys.admit(std::chrono::steady_clock::now().time_since_epoch())) {
          spdlog::warn("ZeroMQ: a client from {} was refused: its key is not among those of [curve] client_keys{}",
                       verdict.address, left_out_text(*left_out));
        }
      }
      // Most of the peers that only come and go have gone by now. Only the other thread increases this number.
      if (reply(peer, verdict) && verdict.status == "200" && newcomers_left > 0) --newcomers_left;
    }
  }

  /// False if the peer has gone.
  bool reply(const zmq::message_t& peer, const ZapVerdict& verdict) {
    const auto send = [&](std::string_view text, bool last = false) {
      return questions.send(zmq::buffer(text),
                            (last ? zmq::send_flags::none : zmq::send_flags::sndmore) | zmq::send_flags::dontwait);
    };
    try {
      if (!send(peer.to_string_view())) return false;
    } catch (const zmq::error_t& error) {
      if (error.num() == EHOSTUNREACH) return false;
      throw;
    }
    send("");
    send("1.0");
    send(verdict.request_id);
    send(verdict.status);
    send(verdict.text);
    send(verdict.user);
    send("", true);
    return true;
  }

  const std::optional<CurveServerKeys> keys;
  const std::shared_ptr<PeerCounters> shared_counters = std::make_shared<PeerCounters>();
  PeerCounters& counters = *shared_counters;
  zmq::context_t context{1};
  zmq::socket_t questions;  // made here, then used by the thread alone
  int wake = -1;
  std::atomic<bool> stopping{false};
  std::atomic<bool> drop_wanted{false};
  std::atomic<int> newcomers_left{-1};  // newcomers that may still be admitted; negative: any number
  MessageMarks marks;
  std::mutex mutex;
  std::vector<std::unique_ptr<PeerWatch>> newcomers;  // guarded by the mutex
  std::size_t watched = 0;                            // guarded by the mutex
  std::vector<std::unique_ptr<PeerWatch>> watches;    // used by the thread
  LogLimit wrong_keys;
  std::uint64_t freed = 0;  // bytes that peers that have left used, not yet accounted for
  int looks_left = 0;       // checks left for the bytes that have been freed
  int looks_left_out = 0;   // checks skipped since the last one
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

void ZeromqContext::let_newcomers_in() noexcept {
  if (implementation_->newcomers_left.exchange(newcomers_at_once) == 0) implementation_->ring();
}

void ZeromqContext::took(zmq::message_t& last_part, std::uint64_t bytes) noexcept {
  implementation_->marks.note(last_part, bytes);
}

void ZeromqContext::guard(zmq::socket_t& socket, const std::string& door, const ZeromqPeerLimits& limits,
                          const std::string& endpoint) {
  auto& self = *implementation_;
  if (self.keys) {
    socket.set(zmq::sockopt::curve_server, true);
    socket.set(zmq::sockopt::curve_secretkey, zmq::const_buffer(self.keys->secret_key.data(), self.keys->secret_key.size()));
  }
  socket.set(zmq::sockopt::zap_domain, zap_domain);
  // A missing answer means refusal. Every libzmq 4.3 knows the option, but some versions of its headers do not.
  constexpr int enforce_domain = 93;
  const int yes = 1;
  if (::zmq_setsockopt(socket.handle(), enforce_domain, &yes, sizeof yes) != 0) throw zmq::error_t();
  {
    // The lock is held until the watch exists, so that the first peer is seen before its request is answered.
    const std::lock_guard lock(self.mutex);
    const std::string name = fmt::format("peers-{}", ++self.watched);
    auto watch = std::make_unique<PeerWatch>(self.context, socket, name, door, limits, encrypted(), self.marks, self.counters);
    socket.bind(endpoint);
    watch->bound_to(bound_port(socket));
    self.newcomers.push_back(std::move(watch));
  }
  self.ring();
}

}  // namespace echoform
