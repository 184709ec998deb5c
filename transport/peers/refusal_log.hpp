#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/log_limit.hpp"
#include "transport/peers/peer_counters.hpp"

namespace echoform {

/// The log's lines of peers that a door turned away: at most one a second for each reason, with the number of those that had
/// none.
class RefusalLog {
 public:
  /// `door` as its other lines call it: "web server". `clock` outlives this; none is the system's.
  explicit RefusalLog(std::string door, const Clock* clock = nullptr) : door_(std::move(door)), clock_(clock) {}

  /// Any thread. `address` may be empty, where it is not known; the reason stands there as in /metrics.
  void refused(PeerRefusal reason, std::string_view address);

 private:
  std::string door_;
  const Clock* clock_;
  std::array<LogLimit, peer_refusal_count> limits_;
};

}  // namespace echoform
