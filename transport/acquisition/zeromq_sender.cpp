#include "transport/acquisition/zeromq_sender.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "acquisition/frame_layout.hpp"
#include "base/errors.hpp"
#include "proto/acquisition.pb.h"
#include "transport/acquisition/hello.hpp"
#include "transport/zeromq/socket.hpp"

namespace echoform {
namespace {

/// The longest delay until a stop is noticed.
constexpr std::chrono::milliseconds slice{50};

std::string endpoint_of(const ZeromqSenderOptions& options) {
  const bool v6 = options.host.find(':') != std::string::npos;
  return v6 ? fmt::format("tcp://[{}]:{}", options.host, options.port) : fmt::format("tcp://{}:{}", options.host, options.port);
}

}  // namespace

std::uint64_t random_session() {
  std::random_device device;
  const std::uint64_t high = device();
  return (high << 32 | device()) | 1U;  // never 0, which means "no session"
}

struct ZeromqSender::Implementation {
  Implementation(Acquisition described, const ZeromqSenderOptions& chosen)
      : acquisition(std::move(described)), layout(acquisition), options(chosen) {
    if (options.queued_frames < 1 || options.queued_frames > 64) {
      throw InputError("queued frames", fmt::format("{}", options.queued_frames), "1 to 64");
    }
    session = options.session != 0 ? options.session : random_session();
    const SenderIdentity identity{
        .session = session, .connection_index = 0, .connection_count = 1, .sender = options.name, .token = options.token};
    hello = encode_message(MessageType::hello, encode_hello(identity, acquisition));
    ConnectOptions connection{.type = zmq::socket_type::push, .endpoint = endpoint_of(options), .keys = options.keys};
    // Frames wait here and not in the queue of a connection that does not exist: a server that comes late must not receive old
    // frames.
    connection.connected_only = true;
    connection.signs_of_life = SignsOfLife::keep_alive;
    connection.send_queue = static_cast<int>(options.queued_frames * (layout.events() + 1));
    socket = connect_socket(context, connection);
    socket.set(zmq::sockopt::sndtimeo, static_cast<int>(slice.count()));
  }

  ~Implementation() {
    socket.close();
    context.close();
  }

  /// Sends a message. Waits without a limit, or at most for `patience` where `for_ever` is false.
  void send(zmq::message_t& message, bool for_ever = true) {
    if (finished) throw RuntimeFault("this sender has finished");
    const std::size_t bytes = message.size();
    const auto begin = std::chrono::steady_clock::now();
    bool complained = false;
    for (;;) {
      if (cancelled) throw RuntimeFault("sending was broken off");
      try {
        if (socket.send(message, zmq::send_flags::none)) break;
      } catch (const zmq::error_t& error) {
        if (error.num() != EINTR) throw RuntimeFault(fmt::format("{}: {}", endpoint_of(options), error.what()));
      }
      if (complained || std::chrono::steady_clock::now() - begin < options.patience) continue;
      if (!for_ever) throw RuntimeFault(fmt::format("nobody takes the last messages at {}", endpoint_of(options)));
      complained = true;
      spdlog::warn("nobody takes frames at {}; waiting", endpoint_of(options));
    }
    bytes_sent.fetch_add(bytes, std::memory_order_relaxed);
  }

  void send(std::span<const std::byte> bytes, bool for_ever = true) {
    zmq::message_t message(bytes.data(), bytes.size());
    send(message, for_ever);
  }

  const Acquisition acquisition;
  const FrameLayout layout;
  const ZeromqSenderOptions options;
  std::uint64_t session = 0;
  std::vector<std::byte> hello;
  zmq::context_t context{1};
  zmq::socket_t socket;
  bool finished = false;
  std::atomic<bool> cancelled{false};
  std::atomic<std::uint64_t> bytes_sent{0};
};

ZeromqSender::ZeromqSender(const Acquisition& acquisition, const ZeromqSenderOptions& options) {
  validate(acquisition, AcquisitionLimits{}, "acquisition");
  implementation_ = std::make_unique<Implementation>(acquisition, options);
}

ZeromqSender::~ZeromqSender() = default;

void ZeromqSender::send_frame(const FrameStamp& stamp, std::span<const std::byte> frame) {
  const FrameLayout& layout = implementation_->layout;
  if (frame.size() != layout.frame_bytes()) {
    throw InputError("frame", fmt::format("{} bytes", frame.size()), fmt::format("{}", layout.frame_bytes()));
  }
  send_hello();
  for (std::size_t event = 0; event < layout.events(); ++event) {
    const ByteRange bytes = layout.shot_bytes(event);
    send_shot(shot_of(stamp, static_cast<std::uint32_t>(event)), frame.subspan(bytes.first, bytes.count));
  }
}

void ZeromqSender::send_hello() {
  implementation_->send(implementation_->hello);
}

void ZeromqSender::send_shot(const ShotHeader& shot, std::span<const std::byte> payload) {
  const FrameLayout& layout = implementation_->layout;
  if (shot.transmit >= layout.events()) {
    throw InputError("transmit", fmt::format("{}", shot.transmit), fmt::format("below {}", layout.events()));
  }
  const std::size_t expected = layout.shot_bytes(shot.transmit).count;
  if (payload.size() != expected) throw InputError("shot", fmt::format("{} bytes", payload.size()), fmt::format("{}", expected));
  std::array<std::byte, maximum_encoded_shot_bytes> header{};
  const std::size_t length = encode_shot(header, shot, payload.size(), implementation_->session);
  zmq::message_t message(length + payload.size());
  std::memcpy(message.data(), header.data(), length);
  std::memcpy(message.data<std::byte>() + length, payload.data(), payload.size());
  implementation_->send(message);
}

void ZeromqSender::finish() {
  Implementation& me = *implementation_;
  if (me.finished) return;
  wire::End end;
  end.set_session(me.session);
  me.send(encode_message(MessageType::end, end.SerializeAsString()), false);
  me.finished = true;
  me.socket.set(zmq::sockopt::linger, static_cast<int>(me.options.patience.count()));
  me.socket.close();
  me.context.close();  // waits until everything has been sent, or until the time above is over
}

void ZeromqSender::cancel() noexcept {
  implementation_->cancelled = true;
}

std::uint64_t ZeromqSender::session() const noexcept {
  return implementation_->session;
}

std::uint64_t ZeromqSender::bytes_sent() const noexcept {
  return implementation_->bytes_sent.load(std::memory_order_relaxed);
}

}  // namespace echoform
