// The measurement measures: figures come out and are possible. What they are is for the benchmark to say.
#include "benchmarks/ingest.hpp"

#include <gtest/gtest.h>

#include <cstdio>

#include "pipeline/errors.hpp"

namespace echoform::benchmarks {
namespace {

TEST(IngestBenchmark, MeasuresBothReceiversOnEveryNumberOfConnections) {
  for (const std::size_t connections : {1U, 2U, 3U, 8U}) {
    const IngestRates rates = measure_ingest({.connections = connections, .shot_bytes = 4096, .bytes_per_round = 1 << 20, .rounds = 2, .io_threads = 2});
    EXPECT_GT(rates.source.least, 0.0);
    EXPECT_GT(rates.bare.least, 0.0);
    EXPECT_LE(rates.source.least, rates.source.median);
    EXPECT_LE(rates.source.median, rates.source.most);
    EXPECT_GT(rates.ratio.median, 0.0);
  }
}

TEST(IngestBenchmark, NamesNumbersOutOfRange) {
  EXPECT_THROW((void)measure_ingest({.connections = 9}), InputError);
  EXPECT_THROW((void)measure_ingest({.shot_bytes = 100}), InputError);
  EXPECT_THROW((void)measure_ingest({.shot_bytes = 129}), InputError);
  EXPECT_THROW((void)measure_ingest({.rounds = 0}), InputError);
}

// Run by hand with --gtest_also_run_disabled_tests: prints the table.
TEST(IngestBenchmark, DISABLED_Table) {
  for (const std::size_t shot_bytes : {std::size_t{64} << 10, std::size_t{1} << 20}) {
    for (const std::size_t connections : {1U, 2U, 4U}) {
      const IngestRates r = measure_ingest({.connections = connections, .shot_bytes = shot_bytes});
      std::printf("%zu connections, shots of %zu KiB: source %.2f GB/s (%.2f .. %.2f), bare %.2f GB/s (%.2f .. %.2f), ratio %.3f (%.3f .. %.3f)\n",
                  connections, shot_bytes >> 10, r.source.median * 1e-9, r.source.least * 1e-9, r.source.most * 1e-9, r.bare.median * 1e-9,
                  r.bare.least * 1e-9, r.bare.most * 1e-9, r.ratio.median, r.ratio.least, r.ratio.most);
    }
  }
}

}  // namespace
}  // namespace echoform::benchmarks
