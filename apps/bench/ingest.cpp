// The TCP source against a bare receiver.
#include <fmt/format.h>

#include "apps/bench/benchmark.hpp"
#include "benchmarks/ingest.hpp"

namespace echoform::bench {

using namespace benchmarks;

Outcome ingest(const Options& options, LiveLine& progress) {
  Outcome outcome;
  outcome.lines.push_back("ingest: TCP source into slots against a bare Boost.Asio receiver, same sender, taking turns");
  outcome.values = json::array();
  for (const std::size_t shot_bytes : {std::size_t{64} << 10U, std::size_t{1} << 20U}) {
    for (const std::size_t connections : {1U, 2U, 4U}) {
      progress.show(fmt::format("ingest: {} connections, shots of {} KiB", connections, shot_bytes >> 10U));
      IngestCase test;
      test.connections = connections;
      test.shot_bytes = shot_bytes;
      test.rounds = options.frames.value_or(test.rounds);
      const IngestRates rates = measure_ingest(test);
      outcome.lines.push_back(
          fmt::format("  {} connections, shots of {:4} KiB: {:.2f} GB/s ({:.2f} .. {:.2f}), bare {:.2f} GB/s ({:.2f} .. {:.2f}), "
                      "ratio {:.2f} ({:.2f} .. {:.2f})",
                      connections, shot_bytes >> 10U, 1e-9 * rates.source.median, 1e-9 * rates.source.least,
                      1e-9 * rates.source.most, 1e-9 * rates.bare.median, 1e-9 * rates.bare.least, 1e-9 * rates.bare.most,
                      rates.ratio.median, rates.ratio.least, rates.ratio.most));
      outcome.values.push_back({{"connections", connections},
                                {"shot_bytes", shot_bytes},
                                {"source", json_of(rates.source)},
                                {"bare", json_of(rates.bare)},
                                {"ratio", json_of(rates.ratio)}});
    }
  }
  return outcome;
}

}  // namespace echoform::bench
