// Tables of delays through surfaces, made on the GPU.
#include <fmt/format.h>

#include "apps/bench/benchmark.hpp"
#include "benchmarks/delays.hpp"
#include "benchmarks/device_timing.hpp"

namespace echoform::bench {

using namespace benchmarks;

Outcome delays_cuda(const Options& options, LiveLine& progress) {
  DelaysCase test;
  test.elements = options.elements.value_or(test.elements);
  test.pixels = options.pixels.value_or(test.pixels);
  test.rounds = options.frames.value_or(test.rounds);
  progress.show("delays: on the device");
  Outcome outcome;
  outcome.say(
      fmt::format("tables of one leg from {} elements through a surface to {} x {} pixels, on {}, windows and delays of tiles "
                  "included, memory taken before",
                  test.elements, test.pixels, test.pixels, device_facts().text()));
  for (const DeviceDelays& found : measure_device_delays(test)) {
    if (!found.on_device) {
      outcome.say(fmt::format("  {}: made on the host, since it casts shadows", found.name));
      continue;
    }
    const double rays = static_cast<double>(test.elements * test.pixels * test.pixels);
    outcome.add("delays", {.name = found.name,
                           .value = found.seconds,
                           .unit = milliseconds_unit,
                           .note = fmt::format("{:.3f} ns a ray", 1e9 * found.seconds.median / rays)});
  }
  return outcome;
}

}  // namespace echoform::bench
