// The measurement measures: figures come out and are possible. What they are is for the benchmark to say.
#include "benchmarks/ingest.hpp"

#include <gtest/gtest.h>

#include "base/errors.hpp"

namespace echoform::benchmarks {
namespace {

TEST(IngestBenchmark, MeasuresBothReceiversOnEveryNumberOfConnections) {
  for (const std::size_t connections : {1U, 2U, 3U, 8U}) {
    const IngestRates rates = measure_ingest(
        {.connections = connections, .shot_bytes = 4096, .bytes_per_round = 1 << 20, .rounds = 2, .io_threads = 2});
    EXPECT_GT(rates.source.least, 0.0);
    EXPECT_GT(rates.bare.least, 0.0);
    EXPECT_LE(rates.source.least, rates.source.median);
    EXPECT_LE(rates.source.median, rates.source.most);
    EXPECT_GT(rates.ratio.median, 0.0);
  }
}

TEST(IngestBenchmark, MeasuresZeromqBesideABarePull) {
  const IngestRates rates = measure_zeromq_ingest({.shot_bytes = 4096, .bytes_per_round = 1 << 20, .rounds = 2});
  EXPECT_GT(rates.source.least, 0.0);
  EXPECT_GT(rates.bare.least, 0.0);
  EXPECT_GT(rates.ratio.median, 0.0);
  EXPECT_THROW((void)measure_zeromq_ingest({.connections = 2}), InputError);
}

TEST(IngestBenchmark, NamesNumbersOutOfRange) {
  EXPECT_THROW((void)measure_ingest({.connections = 9}), InputError);
  EXPECT_THROW((void)measure_ingest({.shot_bytes = 100}), InputError);
  EXPECT_THROW((void)measure_ingest({.shot_bytes = 129}), InputError);
  EXPECT_THROW((void)measure_ingest({.rounds = 0}), InputError);
}

}  // namespace
}  // namespace echoform::benchmarks
