// Telemetry over ZeroMQ: a PUB socket of its own, one message at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "transport/telemetry_report.hpp"
#include "transport/zeromq/curve_keys.hpp"
#include "transport/zeromq/peer_watch.hpp"

namespace echoform {

struct TelemetryPublisherOptions {
  std::string name = "echoform";             ///< the stream field, which comes first
  std::string address = "127.0.0.1";         ///< IPv4 or IPv6 address to listen on; "*" for all interfaces
  std::uint16_t port = 17181;                ///< 0: any free one
  std::chrono::milliseconds interval{1000};  ///< > 0
  std::size_t subscribers = 32;              ///< at once; further ones are disconnected
  std::optional<CurveServerKeys> keys{};     ///< only clients with CURVE are served, those that they list
};

class TelemetryPublisher {
 public:
  /// Binds and starts a thread that calls `read` every interval (the first time after one) and publishes what it returns.
  /// Throws InputError for a bad address or interval, RuntimeFault (naming the endpoint) if it cannot be bound.
  TelemetryPublisher(const TelemetryPublisherOptions& options, std::function<TelemetryReport()> read);
  /// Stops at once; `read` is not called afterwards.
  ~TelemetryPublisher();
  TelemetryPublisher(const TelemetryPublisher&) = delete;
  TelemetryPublisher& operator=(const TelemetryPublisher&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept;
  /// "tcp://127.0.0.1:17181", as a subscriber on this host connects to it.
  [[nodiscard]] std::string endpoint() const;
  [[nodiscard]] const ZeromqPeerCounters& peers() const noexcept;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace echoform
