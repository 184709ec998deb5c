// Tables of delays through surfaces, made on the GPU.
#include <fmt/format.h>

#include "apps/bench/benchmark.hpp"
#include "benchmarks/delays.hpp"
#include "benchmarks/device_timing.hpp"

namespace echoform::bench {

using namespace benchmarks;

namespace {

void measure(const DelaysCase& test, Outcome& outcome) {
  const std::string of =
      test.volume() ? fmt::format(", {0} x {1} elements to {2} x {2} x {2} voxels", test.elements, test.rows, test.pixels) : "";
  for (const DeviceDelays& found : measure_device_delays(test)) {
    if (!found.on_device) {
      outcome.say(fmt::format("  {}: made on the host", found.name));
      continue;
    }
    outcome.add("delays",
                {.name = found.name + of,
                 .value = found.seconds,
                 .unit = milliseconds_unit,
                 .note = fmt::format("{:.3f} ns a ray", 1e9 * found.seconds.median / static_cast<double>(test.rays()))});
  }
}

}  // namespace

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
  measure(test, outcome);
  if (options.elements || options.pixels) return outcome;
  test.elements = test.rows = 8;
  test.pixels = 128;
  progress.show("delays: of volumes, on the device");
  outcome.attempt("volumes", [&] { measure(test, outcome); });
  return outcome;
}

}  // namespace echoform::bench
