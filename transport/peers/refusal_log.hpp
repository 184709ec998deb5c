#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/log_limit.hpp"
#include "transport/peers/peer_counters.hpp"

namespace echoform {

/// Log lines about refused peers: at most one a second for each reason, with the number of refusals that had no line.
class RefusalLog {
 public:
  /// `door` is the name in other log lines: "web server". `clock` must outlive this object; null is the system's clock.
  explicit RefusalLog(std::string door, const Clock* clock = nullptr) : door_(std::move(door)), clock_(clock) {}

  /// Any thread. `address` may be empty, where it is not known; the reason stands there as in /metrics.
  void refused(PeerRefusal reason, std::string_view address);

 private:
  std::string door_;
  const Clock* clock_;
  std::array<LogLimit, peer_refusal_count> limits_;
};

}  // namespace echoform
