// Reads every telemetry message during a soak: each must close, and totals never go back.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "apps/soak/judge.hpp"
#include "transport/publish/subscriber.hpp"

namespace echoform::soak {

class TelemetryWatch {
 public:
  TelemetryWatch(const Places& places, Verdict& verdict);
  [[nodiscard]] std::uint64_t messages() const { return messages_.load(); }

 private:
  void run(const std::stop_token& stop, Verdict& verdict);

  TelemetrySubscriber subscriber_;
  std::atomic<std::uint64_t> messages_{0};
  std::jthread thread_;
};

}  // namespace echoform::soak
