// Live control over ZeroMQ: REQ clients ask, one request is served at a time, and a client that dies or falls silent holds nobody
// up.
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
  /// Least time from one request to the next, over all clients, who take turns: faster ones wait, and are refused where more wait
  /// than WaitingRequests holds.
  std::chrono::milliseconds pace{10};
  std::optional<CurveServerKeys> keys{};  ///< of CURVE; none: not encrypted
};

class ZeromqControl {
 public:
  /// Binds and starts a thread that calls `handle` for each request. What is no ControlRequest is answered REFUSED by itself.
  /// Throws InputError for a bad address, RuntimeFault (naming the endpoint) if it cannot be bound.
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

/// Asks once. Throws InputError if the endpoint is malformed, RuntimeFault if no reply comes within `timeout` or it is none.
[[nodiscard]] wire::ControlReply ask_control(const std::string& endpoint, const wire::ControlRequest& request,
                                             std::chrono::milliseconds timeout,
                                             const std::optional<CurveClientKeys>& keys = std::nullopt);

}  // namespace echoform
