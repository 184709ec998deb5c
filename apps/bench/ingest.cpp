// The sources of frames against bare receivers.
#include <fmt/format.h>

#include "apps/bench/benchmark.hpp"
#include "benchmarks/ingest.hpp"

namespace echoform::bench {

using namespace benchmarks;

namespace {

void report(const std::string& transport, const IngestRates& rates, Outcome& outcome) {
  const IngestCase& test = rates.measured;
  outcome.lines.push_back(fmt::format(
      "  {:6} {} connection{}, shots of {:4} KiB: {:.2f} GB/s ({:.2f} .. {:.2f}), bare {:.2f} GB/s ({:.2f} .. {:.2f}), ratio "
      "{:.2f} ({:.2f} .. {:.2f})",
      transport, test.connections, test.connections == 1 ? "" : "s", test.shot_bytes >> 10U, 1e-9 * rates.source.median,
      1e-9 * rates.source.least, 1e-9 * rates.source.most, 1e-9 * rates.bare.median, 1e-9 * rates.bare.least,
      1e-9 * rates.bare.most, rates.ratio.median, rates.ratio.least, rates.ratio.most));
  outcome.values.push_back({{"transport", transport},
                            {"connections", test.connections},
                            {"shot_bytes", test.shot_bytes},
                            {"source", json_of(rates.source)},
                            {"bare", json_of(rates.bare)},
                            {"ratio", json_of(rates.ratio)},
                            {"turns", json_of(rates.turns)}});
}

}  // namespace

Outcome ingest(const Options& options, LiveLine& progress) {
  Outcome outcome;
  outcome.lines.push_back(
      "ingest: TCP source into slots against a bare Boost.Asio receiver, ZeroMQ source (one copy more) against a bare PULL; same "
      "sender, taking turns");
  outcome.values = json::array();
  for (const std::size_t shot_bytes : {std::size_t{64} << 10U, std::size_t{1} << 20U}) {
    IngestCase test;
    test.shot_bytes = shot_bytes;
    test.rounds = options.frames.value_or(test.rounds);
    for (const std::size_t connections : {1U, 2U, 4U}) {
      progress.show(fmt::format("ingest: {} connections, shots of {} KiB", connections, shot_bytes >> 10U));
      test.connections = connections;
      report("TCP", measure_ingest(test), outcome);
    }
    progress.show(fmt::format("ingest: ZeroMQ, shots of {} KiB", shot_bytes >> 10U));
    test.connections = 1;
    report("ZeroMQ", measure_zeromq_ingest(test), outcome);
  }
  return outcome;
}

}  // namespace echoform::bench
