#include "apps/soak/telemetry_watch.hpp"

#include <fmt/format.h>

namespace echoform::soak {

TelemetryWatch::TelemetryWatch(const Places& places, Verdict& verdict)
    : subscriber_(places.telemetry), thread_([this, &verdict](const std::stop_token& stop) { run(stop, verdict); }) {}

void TelemetryWatch::run(const std::stop_token& stop, Verdict& verdict) {
  Closure before;
  while (!stop.stop_requested()) {
    const wire::Telemetry* message = subscriber_.receive(std::chrono::milliseconds(100));
    if (subscriber_.malformed() != 0) verdict.fail("telemetry: a malformed message");
    if (message == nullptr) continue;
    Closure now{message->frames_received(), message->frames_published(), 0, message->frames_in_flight()};
    for (const auto& drop : message->drops()) now.dropped += drop.frames();
    if (!now.closes()) verdict.fail(fmt::format("telemetry: the counters do not close: {}", now.text()));
    if (now.received < before.received || now.published < before.published || now.dropped < before.dropped) {
      verdict.fail(fmt::format("telemetry: totals went back from {} to {}", before.text(), now.text()));
    }
    before = now;
    ++messages_;
  }
}

}  // namespace echoform::soak
