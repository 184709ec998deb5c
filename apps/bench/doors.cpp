// Interfaces that other projects define: a MicroPulse as a source, OpenIGTLink as a sink.
#include <fmt/format.h>

#include "apps/bench/benchmark.hpp"
#include "benchmarks/micropulse.hpp"
#include "benchmarks/openigtlink.hpp"

namespace echoform::bench {

using namespace benchmarks;

namespace {

// The part of 1 Gbit/s that remains for the payload of full packets.
constexpr double gigabit = 118e6;  // bytes a second

json measured(const MicropulseCase& test, std::string_view rate, Outcome& outcome) {
  const MicropulseRates rates = measure_micropulse(test);
  outcome.say(
      fmt::format("  {}: {:.3f} GB/s ({:.3f} .. {:.3f}), {:.1f} frames/s; bare {:.3f} GB/s ({:.3f} .. {:.3f}), ratio {:.3f} "
                  "({:.3f} .. {:.3f})",
                  rate, 1e-9 * rates.source.median, 1e-9 * rates.source.least, 1e-9 * rates.source.most,
                  rates.source.median / static_cast<double>(rates.frame_bytes), 1e-9 * rates.bare.median, 1e-9 * rates.bare.least,
                  1e-9 * rates.bare.most, rates.ratio.median, rates.ratio.least, rates.ratio.most));
  return {{"elements", test.elements},        {"samples", test.samples},
          {"frame_bytes", rates.frame_bytes}, {"bytes_per_second", test.bytes_per_second},
          {"source", json_of(rates.source)},  {"bare", json_of(rates.bare)},
          {"ratio", json_of(rates.ratio)},    {"turns", json_of(rates.turns)}};
}

}  // namespace

Outcome micropulse(const Options& options, LiveLine& progress) {
  MicropulseCase test;
  test.elements = options.elements.value_or(test.elements);
  test.samples = options.samples.value_or(test.samples);
  test.rounds = options.frames.value_or(test.rounds);
  Outcome outcome;
  outcome.say(fmt::format(
      "micropulse: the source of a MicroPulse into slots, against a bare reader of the same stream, taking turns; full "
      "matrices of {} elements x {} samples of 16 bits",
      test.elements, test.samples));
  outcome.values = json::array();
  progress.show("micropulse: as fast as it is read");
  outcome.values.push_back(measured(test, "as fast as it is read", outcome));
  test.bytes_per_second = gigabit;
  test.bytes_per_round = std::size_t{64} << 20U;
  progress.show("micropulse: at 1 Gbit/s");
  outcome.values.push_back(measured(test, "at 1 Gbit/s", outcome));
  return outcome;
}

Outcome openigtlink(const Options& options, LiveLine& progress) {
  OpenIgtlinkCase test;
  test.voxels = options.pixels.value_or(test.voxels);
  test.rounds = options.frames.value_or(test.rounds);
  progress.show("openigtlink");
  const OpenIgtlinkRates rates = measure_openigtlink(test);
  Outcome outcome;
  outcome.say("openigtlink: volumes to clients, one published when all have the one before, against plain writes, taking turns");
  outcome.say(
      fmt::format("  {0} x {0} x {0} voxels of 8 bits to {1} clients: {2:.1f} volumes/s to each ({3:.1f} .. {4:.1f}), plain "
                  "writes {5:.1f} ({6:.1f} .. {7:.1f}), "
                  "ratio {8:.2f} ({9:.2f} .. {10:.2f})",
                  test.voxels, test.clients, rates.sink.median, rates.sink.least, rates.sink.most, rates.bare.median,
                  rates.bare.least, rates.bare.most, rates.ratio.median, rates.ratio.least, rates.ratio.most));
  outcome.values = {{"voxels", test.voxels},       {"clients", test.clients},       {"sink", json_of(rates.sink)},
                    {"bare", json_of(rates.bare)}, {"ratio", json_of(rates.ratio)}, {"turns", json_of(rates.turns)}};
  return outcome;
}

}  // namespace echoform::bench
