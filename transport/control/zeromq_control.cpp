#include "transport/control/zeromq_control.hpp"

#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>
#include <spdlog/spdlog.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/wake_bell.hpp"
#include "base/worker.hpp"
#include "transport/control/waiting_requests.hpp"
#include "transport/wire_numbers.hpp"
#include "transport/zeromq/socket.hpp"

namespace echoform {
namespace {

// Number of clients, then limits of a message in bytes. The reply to a complete get takes 15 KB.
constexpr std::size_t clients_most = 32;
constexpr std::int64_t request_limit = 64 * 1024;
constexpr std::int64_t reply_limit = 1024 * 1024;
// A message has 3 or 4 parts: the identity that the ROUTER puts first; the request number of a REQ client that numbers its
// requests (ZMQ_REQ_CORRELATE); an empty part; the request.
constexpr std::size_t parts_least = 3;
constexpr std::size_t parts_most = 4;
// Handling a message takes some microseconds, mostly for the answer that refuses it. These two bound the share of a second that
// messages may use.
constexpr int taken_at_once = 500;
constexpr std::chrono::milliseconds taken_apart{2};

wire::ControlReply refused(std::string reason) {
  wire::ControlReply reply;
  reply.set_outcome(wire::REFUSED);
  reply.set_reason(std::move(reason));
  return reply;
}

zmq::message_t message_of(const google::protobuf::MessageLite& message) {
  zmq::message_t out(message.ByteSizeLong());
  message.SerializeWithCachedSizesToArray(static_cast<std::uint8_t*>(out.data()));
  return out;
}

}  // namespace

struct ZeromqControl::Implementation {
  Implementation(const ZeromqControlOptions& given, std::function<wire::ControlReply(const wire::ControlRequest&)> handler)
      : options(given), handle(std::move(handler)), context(given.keys), socket(bind(context, given)), port(bound_port(socket)) {
    // This thread ends by itself if the other one cannot be started.
    handling_thread.emplace(WorkerOptions{"control", {}}, [this](const std::stop_token& stop) { run_handling(stop); });
    socket_thread.emplace(WorkerOptions{"control-zmq", {}}, [this](const std::stop_token& stop) { run_socket(stop); });
  }

  ~Implementation() {
    handling_thread.reset();
    socket_thread->request_stop();
    bell.ring();
    socket_thread.reset();
  }

  // A ROUTER serves REQ clients like a REP socket does, and a client that dies between request and reply blocks nobody.
  static zmq::socket_t bind(ZeromqContext& context, const ZeromqControlOptions& options) {
    BindOptions door;
    door.type = zmq::socket_type::router;
    door.what = "live control";
    door.address = options.address;
    door.port = options.port;
    door.message_limit = request_limit;
    door.send_queue = 16;    // refusals are sent at once, too
    door.receive_queue = 0;  // this class limits what waits: see BindOptions
    door.receive_buffer = 16 * 1024;
    door.limits.between_messages = static_cast<std::uint64_t>(request_limit) + 32 * 1024;
    door.limits.peers.connections = clients_most;
    door.limits.peers.per_address = clients_most / 2;
    door.limits.peers.rate_of_all = newcomers_rate;
    door.limits.peers.burst_of_all = newcomers_burst;
    door.limits.inbound_burst = static_cast<double>(WaitingRequests::most_of_one * request_limit);
    door.limits.inbound_rate = 16.0 * 1024.0;
    door.limits.descriptors_left = descriptors_for_files;
    return bind_socket(context, door);
  }

  // Takes requests as soon as they arrive, even while another is being served. What is not taken waits in libzmq, whose queues
  // have no limit.
  void run_socket(const std::stop_token& stop) {
    bool more = false;
    while (!stop.stop_requested()) {
      try {
        if (more) {
          bell.wait(taken_apart);
        } else {
          while (!wait_for_events(socket, bell)) context.let_newcomers_in();
        }
        send_answers();
        more = take_requests();
        // Clients that connect and leave again leave their requests behind, in queues without a limit.
        if (!more) context.let_newcomers_in();
      } catch (const std::exception& error) {
        complain(error);
      }
    }
    try {
      send_answers();
    } catch (const std::exception& error) {
      complain(error);
    }
    socket.close();
  }

  void run_handling(const std::stop_token& stop) {
    auto next_turn = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex);
    while (requested.wait(lock, stop, [&] { return !waiting.empty(); })) {
      if (requested.wait_until(lock, stop, next_turn, [] { return false; }); stop.stop_requested()) return;
      Answer served{waiting.next(), {}};
      lock.unlock();
      try {
        served.reply = answer(served.request.back());
      } catch (const std::exception& error) {
        complain(error);
        served.reply = refused("control request: found one that the server failed to serve; its log may say why");
      }
      next_turn = std::chrono::steady_clock::now() + options.pace;
      lock.lock();
      answers.push_back(std::move(served));
      bell.ring();
    }
  }

  void complain(const std::exception& error) {
    if (!complained.exchange(true)) spdlog::error("live control: {}; further errors are not repeated", error.what());
  }

  /// Takes requests; alternates with sending answers. True if more may be there: libzmq keeps no more of a client than
  /// BindOptions allow.
  bool take_requests() {
    for (int taken = 0; taken < taken_at_once; ++taken) {
      ControlMessage parts = receive();
      if (parts.empty()) return false;
      // Without the envelope of a REQ socket, no client could receive the answer.
      if (parts.size() < parts_least || parts.size() > parts_most || parts[parts.size() - 2].size() != 0) continue;
      std::unique_lock lock(mutex);
      if (!waiting.full_for(parts)) {
        waiting.add(std::move(parts));
        requested.notify_all();
        continue;
      }
      lock.unlock();
      reply(parts, refused(fmt::format(
                       "control request: found {} or more requests of this client waiting, or {} of all clients; expected fewer",
                       WaitingRequests::most_of_one, WaitingRequests::most)));
    }
    return true;
  }

  /// Receives all parts of a message and keeps at most parts_most + 1 of them. Empty if no message is there.
  ControlMessage receive() {
    ControlMessage parts;
    std::uint64_t bytes = 0;
    for (bool more = true; more;) {
      zmq::message_t part;
      if (!socket.recv(part, zmq::recv_flags::dontwait)) break;
      more = part.more();
      if (!parts.empty()) bytes += bytes_on_the_way(part);  // the identity did not come from the client
      if (!more) context.took(part, bytes);
      if (parts.size() <= parts_most) parts.push_back(std::move(part));
    }
    return parts;
  }

  /// Bytes of a part on the wire (ZMTP 3.1 and CurveZMQ): its length precedes it, and an encrypted part is a command with a nonce
  /// and an authentication code.
  [[nodiscard]] std::uint64_t bytes_on_the_way(const zmq::message_t& part) const {
    const std::uint64_t contents = part.size() + (context.encrypted() ? 33 : 0);
    return contents + (contents > 255 ? 9 : 2);
  }

  void send_answers() {
    std::vector<Answer> sent;
    {
      const std::lock_guard lock(mutex);
      sent.swap(answers);
    }
    for (Answer& one : sent) reply(one.request, one.reply);
  }

  void reply(ControlMessage& parts, const wire::ControlReply& contents) {
    zmq::message_t reply = message_of(contents);
    // The ROUTER drops the reply to a client that has gone or does not read.
    for (std::size_t k = 0; k + 1 < parts.size(); ++k) {
      (void)socket.send(parts[k], zmq::send_flags::sndmore | zmq::send_flags::dontwait);
    }
    (void)socket.send(reply, zmq::send_flags::dontwait);
  }

  wire::ControlReply answer(const zmq::message_t& message) const {
    wire::ControlRequest request;
    const google::protobuf::LogSilencer silencer;  // malformed requests do not fill our log
    if (!parse_message({message.data<std::byte>(), message.size()}, request)) {
      return refused(fmt::format("control request: found {} bytes that are none; expected a ControlRequest", message.size()));
    }
    return handle(request);
  }

  struct Answer {
    ControlMessage request;
    wire::ControlReply reply;
  };

  ZeromqControlOptions options;
  std::function<wire::ControlReply(const wire::ControlRequest&)> handle;
  const WakeBell bell{"live control"};
  ZeromqContext context;
  zmq::socket_t socket;  // made by the constructor, then used by its thread alone
  std::uint16_t port;
  std::atomic<bool> complained{false};
  std::mutex mutex;  // never locked inside calls of libzmq
  std::condition_variable_any requested;
  WaitingRequests waiting;      // guarded by the mutex
  std::vector<Answer> answers;  // guarded by the mutex
  std::optional<Worker> socket_thread;
  std::optional<Worker> handling_thread;
};

ZeromqControl::ZeromqControl(const ZeromqControlOptions& options,
                             std::function<wire::ControlReply(const wire::ControlRequest&)> handle)
    : implementation_(std::make_unique<Implementation>(options, std::move(handle))) {}
ZeromqControl::~ZeromqControl() = default;

std::uint16_t ZeromqControl::port() const noexcept {
  return implementation_->port;
}
std::shared_ptr<const PeerCounters> ZeromqControl::peers() const noexcept {
  return implementation_->context.shared_peers();
}
std::string ZeromqControl::endpoint() const {
  return connectable_endpoint(implementation_->options.address, implementation_->port);
}

wire::ControlReply ask_control(const std::string& endpoint, const wire::ControlRequest& request,
                               std::chrono::milliseconds timeout, const std::optional<CurveClientKeys>& keys) {
  zmq::context_t context{1};
  ConnectOptions options;
  options.type = zmq::socket_type::req;
  options.endpoint = endpoint;
  options.message_limit = reply_limit;
  options.keys = keys;
  zmq::socket_t socket = connect_socket(context, options);
  const auto limit = static_cast<int>(timeout.count());
  socket.set(zmq::sockopt::sndtimeo, limit);
  socket.set(zmq::sockopt::rcvtimeo, limit);
  zmq::message_t out = message_of(request);
  if (!socket.send(out, zmq::send_flags::none)) throw RuntimeFault(fmt::format("{} does not take the request", endpoint));
  zmq::message_t in;
  if (!socket.recv(in)) {
    throw RuntimeFault(fmt::format("no reply from {} within {:g} s: is a server there, and do --server-key and --key fit?",
                                   endpoint, std::chrono::duration<double>(timeout).count()));
  }
  wire::ControlReply reply;
  if (!parse_message({in.data<std::byte>(), in.size()}, reply) || reply.outcome() == wire::CONTROL_OUTCOME_UNSPECIFIED) {
    throw RuntimeFault(fmt::format("{} answers with something that is no ControlReply", endpoint));
  }
  return reply;
}

}  // namespace echoform
