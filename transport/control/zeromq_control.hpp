// Live control over ZeroMQ: REQ clients ask, and one request is served at a time. A client that dies or falls silent delays
// no other client.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "proto/control.pb.h"
#include "transport/peers/peer_counters.hpp"
#include "transport/zeromq/curve_keys.hpp"

namespace echoform {

struct ZeromqControlOptions {
  std::string address = "127.0.0.1";  ///< IPv4 or IPv6 address to listen on; "*" for all interfaces
  std::uint16_t port = 17182;         ///< 0: any free one
  /// Minimum time from one request to the next, over all clients, which take turns. Faster requests wait; they are refused
  /// where more wait than WaitingRequests holds.
  std::chrono::milliseconds pace{10};
  std::optional<CurveServerKeys> keys{};  ///< of CURVE; none: not encrypted
};

class ZeromqControl {
 public:
  /// Binds and starts a thread that calls `handle` for each request. A message that is no ControlRequest is answered REFUSED
  /// without calling it. Throws InputError for a bad address, RuntimeFault (naming the endpoint) if it cannot be bound.
  ZeromqControl(const ZeromqControlOptions& options, std::function<wire::ControlReply(const wire::ControlRequest&)> handle);
  /// Waits for the request that is being served; `handle` is not called afterwards.
  ~ZeromqControl();
  ZeromqControl(const ZeromqControl&) = delete;
  ZeromqControl& operator=(const ZeromqControl&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept;
  /// "tcp://127.0.0.1:17182", as a client on this host connects to it.
  [[nodiscard]] std::string endpoint() const;
  [[nodiscard]] std::shared_ptr<const PeerCounters> peers() const noexcept;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Sends one request and returns the reply. Throws InputError if the endpoint is malformed, RuntimeFault if no reply comes
/// within `timeout` or the reply cannot be parsed.
[[nodiscard]] wire::ControlReply ask_control(const std::string& endpoint, const wire::ControlRequest& request,
                                             std::chrono::milliseconds timeout,
                                             const std::optional<CurveClientKeys>& keys = std::nullopt);

}  // namespace echoform
