#include "transport/publish/telemetry_publisher.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/errors.hpp"
#include "transport/zeromq/socket.hpp"
#include "transport/zeromq/subscriptions.hpp"

namespace echoform {

namespace {

using SteadyClock = std::chrono::steady_clock;

}  // namespace

struct TelemetryPublisher::Implementation {
  Implementation(const TelemetryPublisherOptions& given, std::function<TelemetryReport()> reader)
      : options(given),
        read(std::move(reader)),
        context(given.keys),
        socket(bind_publisher(context, given.address, given.port, 16, "telemetry publisher", zmq::socket_type::xpub,
                              given.subscribers)),
        port(bound_port(socket)) {
    if (given.interval <= std::chrono::milliseconds(0)) {
      throw InputError("telemetry interval", fmt::format("{} ms", given.interval.count()), "more than 0");
    }
    thread = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  void run(const std::stop_token& stop) {
    wire::Telemetry message;
    auto next = SteadyClock::now() + options.interval;
    for (;;) {
      // Subscriptions are taken in long intervals, too.
      const auto wait_until = std::min(next, SteadyClock::now() + std::chrono::seconds(1));
      std::unique_lock lock(mutex);
      if (wake.wait_until(lock, stop, wait_until, [&] { return stop.stop_requested(); }) || stop.stop_requested()) return;
      lock.unlock();
      const bool due = SteadyClock::now() >= next;
      if (due) next += options.interval;  // a schedule, so that the rate is kept whatever a message takes
      try {
        subscriptions.read(socket);
        if (!due) continue;
        fill_telemetry(read(), options.name, std::chrono::system_clock::now().time_since_epoch(), message);
        zmq::message_t out(message.ByteSizeLong());
        message.SerializeWithCachedSizesToArray(static_cast<std::uint8_t*>(out.data()));
        (void)socket.send(out, zmq::send_flags::dontwait);
      } catch (const std::exception& error) {
        spdlog::error("telemetry: {}", error.what());
      }
    }
  }

  TelemetryPublisherOptions options;
  std::function<TelemetryReport()> read;
  ZeromqContext context;
  Subscriptions subscriptions{context};
  zmq::socket_t socket;
  std::uint16_t port;
  std::mutex mutex;
  std::condition_variable_any wake;
  std::jthread thread;  // last: stops before the rest goes
};

TelemetryPublisher::TelemetryPublisher(const TelemetryPublisherOptions& options, std::function<TelemetryReport()> read)
    : implementation_(std::make_unique<Implementation>(options, std::move(read))) {}
TelemetryPublisher::~TelemetryPublisher() = default;

std::uint16_t TelemetryPublisher::port() const noexcept {
  return implementation_->port;
}
std::string TelemetryPublisher::endpoint() const {
  return connectable_endpoint(implementation_->options.address, implementation_->port);
}
const ZeromqPeerCounters& TelemetryPublisher::peers() const noexcept {
  return implementation_->context.peers();
}

}  // namespace echoform
