#include "transport/publish/telemetry_publisher.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/errors.hpp"
#include "transport/publish/message_buffer.hpp"
#include "transport/publish/publisher_socket.hpp"

namespace echoform {

namespace {

using SteadyClock = std::chrono::steady_clock;

}  // namespace

struct TelemetryPublisher::Implementation {
  Implementation(const TelemetryPublisherOptions& given, std::function<TelemetryReport()> reader)
      : options(given),
        read(std::move(reader)),
        socket({.what = "telemetry publisher",
                .thread = "telemetry-zmq",
                .address = given.address,
                .port = given.port,
                .subscribers = given.subscribers,
                .keys = given.keys}) {
    if (given.interval <= std::chrono::milliseconds(0)) {
      throw InputError("telemetry interval", fmt::format("{} ms", given.interval.count()), "more than 0");
    }
    thread = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  void run(const std::stop_token& stop) {
    wire::Telemetry message;
    auto next = SteadyClock::now() + options.interval;
    for (;;) {
      std::unique_lock lock(mutex);
      if (wake.wait_until(lock, stop, next, [&] { return stop.stop_requested(); }) || stop.stop_requested()) return;
      lock.unlock();
      next += options.interval;  // a schedule, so that the rate is kept however long a message takes
      try {
        fill_telemetry(read(), options.name, std::chrono::system_clock::now().time_since_epoch(), message);
        MessageBuffer& buffer = MessageBuffer::for_one_message(message.ByteSizeLong());
        message.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(buffer.message().data()));
        socket.offer(buffer);
        socket.wake();
      } catch (const std::exception& error) {
        spdlog::error("telemetry: {}", error.what());
      }
    }
  }

  TelemetryPublisherOptions options;
  std::function<TelemetryReport()> read;
  PublisherSocket socket;
  std::mutex mutex;
  std::condition_variable_any wake;
  std::jthread thread;  // last member: stops before the others are destroyed
};

TelemetryPublisher::TelemetryPublisher(const TelemetryPublisherOptions& options, std::function<TelemetryReport()> read)
    : implementation_(std::make_unique<Implementation>(options, std::move(read))) {}
TelemetryPublisher::~TelemetryPublisher() = default;

std::uint16_t TelemetryPublisher::port() const noexcept {
  return implementation_->socket.port();
}
std::string TelemetryPublisher::endpoint() const {
  return implementation_->socket.endpoint();
}
const ZeromqPeerCounters& TelemetryPublisher::peers() const noexcept {
  return implementation_->socket.peers();
}

}  // namespace echoform
