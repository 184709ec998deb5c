#include "transport/control/zeromq_control.hpp"

#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "base/errors.hpp"
#include "transport/control/waiting_requests.hpp"
#include "transport/wire_numbers.hpp"
#include "transport/zeromq/socket.hpp"

namespace echoform {
namespace {

using namespace std::chrono_literals;

// Bytes. A whole get is 15 KB.
constexpr std::size_t clients_most = 32;
constexpr std::int64_t request_limit = 64 * 1024;
constexpr std::int64_t reply_limit = 1024 * 1024;
// The identity that the ROUTER puts first, a REQ client's number of the request where it numbers them (ZMQ_REQ_CORRELATE), an
// empty part, the request.
constexpr std::size_t parts_least = 3;
constexpr std::size_t parts_most = 4;
constexpr int taken_at_once = 1000;
constexpr std::chrono::milliseconds stop_interval{50};  // how late a stop is noticed while nobody asks

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
    thread = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  // A ROUTER: it serves REQ clients like a REP socket, and a client that dies between question and answer holds up nobody.
  static zmq::socket_t bind(ZeromqContext& context, const ZeromqControlOptions& options) {
    BindOptions door;
    door.type = zmq::socket_type::router;
    door.what = "live control";
    door.address = options.address;
    door.port = options.port;
    door.message_limit = request_limit;
    door.send_queue = 16;    // those that are refused are answered at once, too
    door.receive_queue = 0;  // what waits is ours to limit: see BindOptions
    door.receive_buffer = static_cast<int>(request_limit);
    door.limits.between_messages = 4 * static_cast<std::uint64_t>(request_limit);
    door.limits.peers.connections = clients_most;
    door.limits.peers.per_address = clients_most / 2;
    door.limits.inbound_burst = 1024.0 * 1024.0;
    door.limits.inbound_rate = 64.0 * 1024.0;
    door.limits.descriptors_left = descriptors_for_files;
    return bind_socket(context, door);
  }

  void run(const std::stop_token& stop) {
    using SteadyClock = std::chrono::steady_clock;
    bool complained = false;
    auto next_turn = SteadyClock::now();
    while (!stop.stop_requested()) {
      try {
        auto limit = stop_interval;
        if (!waiting.empty())
          limit = std::clamp(std::chrono::ceil<std::chrono::milliseconds>(next_turn - SteadyClock::now()), 0ms, limit);
        if (wait_for_request(limit)) take_requests();
        if (waiting.empty() || SteadyClock::now() < next_turn) continue;
        serve(waiting.next());
        next_turn = SteadyClock::now() + options.pace;
      } catch (const std::exception& error) {
        if (!complained) spdlog::error("live control: {}; further errors are not repeated", error.what());
        complained = true;
      }
    }
  }

  bool wait_for_request(std::chrono::milliseconds limit) {
    zmq::pollitem_t item{socket.handle(), 0, ZMQ_POLLIN, 0};
    return zmq::poll(&item, 1, limit) > 0;
  }

  // Everything that is there, though by turns with serving: libzmq's own queues have no limit.
  void take_requests() {
    for (int taken = 0; taken < taken_at_once; ++taken) {
      ControlMessage parts = receive();
      if (parts.empty()) return;
      // Without the envelope of a REQ socket nobody could take the answer.
      if (parts.size() < parts_least || parts.size() > parts_most || parts[parts.size() - 2].size() != 0) continue;
      if (waiting.full_for(parts)) {
        reply(parts,
              refused(fmt::format("control request: found {} or more of this client waiting, or {} of all; expected its turn",
                                  WaitingRequests::most_of_one, WaitingRequests::most)));
      } else {
        waiting.add(std::move(parts));
      }
    }
  }

  /// All parts of a message, of which one more than the most is kept. Empty if nothing is there.
  ControlMessage receive() {
    ControlMessage parts;
    for (bool more = true; more;) {
      zmq::message_t part;
      if (!socket.recv(part, zmq::recv_flags::dontwait)) break;
      more = part.more();
      if (!more) context.took(part);
      if (parts.size() <= parts_most) parts.push_back(std::move(part));
    }
    return parts;
  }

  void serve(ControlMessage parts) { reply(parts, answer(parts.back())); }

  void reply(ControlMessage& parts, const wire::ControlReply& contents) {
    zmq::message_t reply = message_of(contents);
    // To a client that has gone, or does not read, the ROUTER drops it.
    for (std::size_t k = 0; k + 1 < parts.size(); ++k) {
      (void)socket.send(parts[k], zmq::send_flags::sndmore | zmq::send_flags::dontwait);
    }
    (void)socket.send(reply, zmq::send_flags::dontwait);
  }

  wire::ControlReply answer(const zmq::message_t& message) const {
    wire::ControlRequest request;
    const google::protobuf::LogSilencer silencer;  // whoever sends nonsense does not fill our log
    if (!parse_message({message.data<std::byte>(), message.size()}, request)) {
      return refused(fmt::format("control request: found {} bytes that are none; expected a ControlRequest", message.size()));
    }
    return handle(request);
  }

  ZeromqControlOptions options;
  std::function<wire::ControlReply(const wire::ControlRequest&)> handle;
  ZeromqContext context;
  zmq::socket_t socket;
  std::uint16_t port;
  WaitingRequests waiting;  // the thread's
  std::jthread thread;      // last: stops before the rest goes
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
