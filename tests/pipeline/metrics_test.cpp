#include "pipeline/metrics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>
#include <utility>

namespace echoform {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

TEST(LogBuckets, CoverEveryValueOnceWithinThreePercent) {
  std::uint64_t expected_lower = 0;
  for (std::size_t index = 0; index < log_buckets::count; ++index) {
    ASSERT_EQ(log_buckets::lower(index), expected_lower);
    const std::uint64_t lower = log_buckets::lower(index), upper = log_buckets::upper(index);
    ASSERT_EQ(log_buckets::index(lower), index);
    ASSERT_EQ(log_buckets::index(upper - 1), index);
    ASSERT_LE(static_cast<double>(upper - 1 - lower), 0.03 * static_cast<double>(lower));
    expected_lower = upper;
  }
  EXPECT_EQ(log_buckets::index(~std::uint64_t{0}), log_buckets::count - 1);
}

TEST(Histogram, QuantilesLieWithinABucketOfTheSortedOnes) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> exponent(3.0, 10.0);  // 1 us .. 10 s
  Histogram histogram;
  std::vector<double> all;
  for (int i = 0; i < 20'000; ++i) {
    const auto value = static_cast<std::int64_t>(std::pow(10.0, exponent(random)));
    all.push_back(static_cast<double>(value));
    histogram.record(nanoseconds(value));
  }
  std::sort(all.begin(), all.end());
  HistogramCounts counts;
  histogram.read(counts);
  for (const double fraction : {0.01, 0.5, 0.9, 0.99, 1.0}) {
    const double exact = all[static_cast<std::size_t>(std::ceil(fraction * static_cast<double>(all.size()))) - 1];
    // Half of a bucket's width, 1/64 of its lower edge.
    EXPECT_NEAR(static_cast<double>(counts.quantile(fraction)), exact, exact / 128.0 + 1.0) << fraction;
  }
  EXPECT_EQ(counts.total, all.size());
  EXPECT_EQ(histogram.take_maximum().count(), static_cast<std::int64_t>(all.back()));
}

TEST(Histogram, LosesNoRecordOfManyThreads) {
  Histogram histogram;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&histogram, t] {
        for (int i = 0; i < 10'000; ++i) histogram.record(nanoseconds(1000 * (t + 1)));
      });
    }
  }
  HistogramCounts counts;
  histogram.read(counts);
  EXPECT_EQ(counts.total, 40'000U);
  EXPECT_EQ(counts.sum, 10'000U * (1000 + 2000 + 3000 + 4000));
  EXPECT_EQ(histogram.maximum(), nanoseconds(4000));
}

TEST(Histogram, NegativeAndEndlessDurationsStayInIt) {
  Histogram histogram;
  histogram.record(nanoseconds(-5));
  histogram.record(nanoseconds::max());
  HistogramCounts counts;
  histogram.read(counts);
  EXPECT_EQ(counts.total, 2U);
  EXPECT_EQ(counts.counts.front(), 1U);
  EXPECT_EQ(counts.counts.back(), 1U);
}

FrameSlot slot_with(SteadyTime first, SteadyTime last, std::initializer_list<StageTiming> timings) {
  FrameSlot slot;
  slot.first_byte_time = first;
  slot.last_byte_time = last;
  for (const StageTiming& timing : timings) slot.timings.push_back(timing);
  return slot;
}

const DistributionSnapshot& named(const MetricsSnapshot& snapshot, std::string_view name) {
  static const DistributionSnapshot none;
  for (const auto& distribution : snapshot.distributions) {
    if (distribution.name == name) return distribution;
  }
  ADD_FAILURE() << "no distribution " << name;
  return none;
}

TEST(PipelineMetrics, TellsLatenciesIntervalsAndStagesApart) {
  PipelineMetrics metrics(nanoseconds(0));
  metrics.record_published(
      slot_with(milliseconds(0), milliseconds(6), {{"beamform", milliseconds(2)}, {"envelope", milliseconds(1)}}),
      milliseconds(10));
  metrics.record_published(slot_with(milliseconds(10), milliseconds(26), {{"beamform", milliseconds(2)}}), milliseconds(30));
  const MetricsSnapshot snapshot = metrics.close_window(milliseconds(500), {});
  ASSERT_EQ(snapshot.distributions.size(), 5U);
  EXPECT_EQ(named(snapshot, "frame_latency").window_count, 2U);
  EXPECT_EQ(named(snapshot, "frame_latency").maximum, milliseconds(4));
  EXPECT_DOUBLE_EQ(named(snapshot, "frame_latency").mean, 4e6);
  EXPECT_EQ(named(snapshot, "first_byte_to_published").maximum, milliseconds(20));
  EXPECT_DOUBLE_EQ(named(snapshot, "first_byte_to_published").sum, 0.030);
  EXPECT_EQ(named(snapshot, "interframe").count, 1U);
  EXPECT_EQ(named(snapshot, "interframe").maximum, milliseconds(20));
  EXPECT_EQ(named(snapshot, "stage_beamform").count, 2U);
  EXPECT_EQ(named(snapshot, "stage_beamform").stage, "beamform");
  EXPECT_EQ(named(snapshot, "stage_envelope").count, 1U);
  EXPECT_EQ(named(snapshot, "frame_latency").stage, "");
}

TEST(PipelineMetrics, WindowsForgetAndTotalsDoNot) {
  PipelineMetrics metrics(nanoseconds(0));
  CounterSnapshot counters;
  counters.frames_received = 30;
  counters.frames_published = 20;
  counters.bytes_received = 3'000'000;
  metrics.record_published(slot_with(milliseconds(0), milliseconds(0), {}), milliseconds(100));
  MetricsSnapshot snapshot = metrics.close_window(milliseconds(2000), counters);
  EXPECT_DOUBLE_EQ(snapshot.window, 2.0);
  EXPECT_DOUBLE_EQ(snapshot.input_rate, 15.0);
  EXPECT_DOUBLE_EQ(snapshot.output_rate, 10.0);
  EXPECT_DOUBLE_EQ(snapshot.input_bytes_rate, 1.5e6);

  metrics.record_published(slot_with(milliseconds(0), milliseconds(0), {}), milliseconds(1));
  snapshot = metrics.snapshot(counters);  // reading does not end the window
  EXPECT_EQ(named(snapshot, "frame_latency").maximum, milliseconds(100));
  EXPECT_EQ(named(snapshot, "frame_latency").count, 2U);
  counters.frames_published = 21;
  snapshot = metrics.close_window(milliseconds(3000), counters);
  const DistributionSnapshot& latency = named(snapshot, "frame_latency");
  EXPECT_EQ(latency.window_count, 1U);
  EXPECT_EQ(latency.maximum, milliseconds(1));
  EXPECT_NEAR(static_cast<double>(latency.p99.count()), 1e6, 1e6 / 64.0);  // a bucket's width
  EXPECT_EQ(latency.count, 2U);
  EXPECT_EQ(latency.total_maximum, milliseconds(100));
  EXPECT_DOUBLE_EQ(snapshot.input_rate, 0.0);
  EXPECT_DOUBLE_EQ(snapshot.output_rate, 1.0);
  snapshot = metrics.close_window(milliseconds(4000), counters);
  EXPECT_EQ(named(snapshot, "frame_latency").window_count, 0U);
  EXPECT_EQ(named(snapshot, "frame_latency").p50, nanoseconds(0));
}

/// A frame that took so long from its last byte on.
void record(PipelineMetrics& metrics, nanoseconds latency) {
  metrics.record_published(slot_with(nanoseconds(0), nanoseconds(0), {{"beamform", 2 * latency}}), latency);
}

TEST(PipelineMetrics, HalfAndNinetyNineOfAHundredRecordsLieBelowTheirPercentiles) {
  constexpr double half_width = 1.0 / 128.0;  // of a bucket
  const auto expect = [&](nanoseconds found, double wanted_ms, const char* what) {
    EXPECT_NEAR(1e-6 * static_cast<double>(found.count()), wanted_ms, half_width * wanted_ms) << what;
  };
  PipelineMetrics metrics(nanoseconds(0));
  // 1 to 200 ms, in no order: 7 and 200 have no common divisor.
  for (int k = 0; k < 200; ++k) record(metrics, milliseconds(1 + 7 * k % 200));
  MetricsSnapshot snapshot = metrics.close_window(milliseconds(1000), {});
  for (const auto& [name, scale] : {std::pair{"frame_latency", 1.0}, {"stage_beamform", 2.0}}) {
    const DistributionSnapshot& first = named(snapshot, name);
    EXPECT_EQ(first.window_count, 200U);
    expect(first.p50, scale * 100, name);
    expect(first.p99, scale * 198, name);
    expect(first.total_p50, scale * 100, name);
    expect(first.total_p99, scale * 198, name);
    EXPECT_DOUBLE_EQ(first.mean, scale * 100.5e6);
  }
  // Ten times as long, a tenth as many: the window has these alone, the totals all 220.
  for (int k = 1; k <= 20; ++k) record(metrics, milliseconds(1000 + k));
  snapshot = metrics.close_window(milliseconds(2000), {});
  const DistributionSnapshot& second = named(snapshot, "frame_latency");
  EXPECT_EQ(second.window_count, 20U);
  expect(second.p50, 1010, "of the window");
  expect(second.p99, 1020, "of the window");
  expect(second.total_p50, 110, "of all");
  expect(second.total_p99, 1018, "of all");  // the 218th of 220
  EXPECT_DOUBLE_EQ(second.mean, 1010.5e6);
}

TEST(PipelineMetrics, NoPercentileLiesAboveTheLongestRecord) {
  // The lower edge of its bucket, whose middle is 0.8 % above.
  const nanoseconds record_of_edge(std::int64_t{1} << 20);
  PipelineMetrics metrics(nanoseconds(0));
  for (int k = 0; k < 3; ++k) record(metrics, record_of_edge);
  EXPECT_EQ(named(metrics.snapshot({}), "frame_latency").total_p99, record_of_edge) << "in a window that is open";
  EXPECT_EQ(named(metrics.snapshot({}), "frame_latency").total_maximum, record_of_edge);
  const DistributionSnapshot latency = named(metrics.close_window(milliseconds(1), {}), "frame_latency");
  for (const nanoseconds found : {latency.p50, latency.p99, latency.total_p50, latency.total_p99}) {
    EXPECT_EQ(found, record_of_edge);
  }
}

TEST(PipelineMetrics, RatesCountFromTheStartAndAWindowWithoutLengthIsNone) {
  const nanoseconds start = std::chrono::seconds(1000);
  PipelineMetrics metrics(start);
  CounterSnapshot counters;
  counters.frames_received = 30;
  counters.frames_published = 20;
  counters.bytes_received = 1000;
  record(metrics, milliseconds(3));
  for (int call = 0; call < 2; ++call) {
    const MetricsSnapshot first = metrics.close_window(start + std::chrono::seconds(2), counters);
    EXPECT_DOUBLE_EQ(first.window, 2.0);
    EXPECT_DOUBLE_EQ(first.input_rate, 15.0);
    EXPECT_DOUBLE_EQ(first.output_rate, 10.0);
    EXPECT_DOUBLE_EQ(first.input_bytes_rate, 500.0);
    EXPECT_EQ(named(first, "frame_latency").window_count, 1U);
    EXPECT_EQ(named(first, "frame_latency").maximum, milliseconds(3));
  }
}

TEST(PipelineMetrics, CumulativeBucketsGrowToTheCount) {
  PipelineMetrics metrics(nanoseconds(0));
  for (const int ms : {1, 3, 30, 300, 3000}) {
    metrics.record_published(slot_with(nanoseconds(0), nanoseconds(0), {}), std::chrono::microseconds(980 * ms));
  }
  const MetricsSnapshot snapshot = metrics.snapshot({});
  const DistributionSnapshot& latency = named(snapshot, "frame_latency");
  EXPECT_TRUE(std::is_sorted(latency.at_most.begin(), latency.at_most.end()));
  const auto at = [&](double edge) {
    return latency
        .at_most[static_cast<std::size_t>(std::find(bucket_edges.begin(), bucket_edges.end(), edge) - bucket_edges.begin())];
  };
  EXPECT_EQ(at(5e-4), 0U);
  EXPECT_EQ(at(1e-3), 1U);
  EXPECT_EQ(at(5e-3), 2U);
  EXPECT_EQ(at(5e-2), 3U);
  EXPECT_EQ(at(0.5), 4U);
  EXPECT_EQ(at(10.0), 5U);
}

TEST(PipelineMetrics, ANewStreamStartsNoInterval) {
  PipelineMetrics metrics(nanoseconds(0));
  metrics.record_published(slot_with(nanoseconds(0), nanoseconds(0), {}), milliseconds(1));
  metrics.stream_opened();
  metrics.record_published(slot_with(nanoseconds(0), nanoseconds(0), {}), milliseconds(60'000));
  EXPECT_EQ(named(metrics.snapshot({}), "interframe").count, 0U);
}

TEST(PipelineMetrics, MoreStageNamesThanPlacesAreLeftOut) {
  static const std::array<std::string, PipelineMetrics::most_stages + 4> names = [] {
    std::array<std::string, PipelineMetrics::most_stages + 4> made;
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = "stage" + std::to_string(i);
    return made;
  }();
  PipelineMetrics metrics(nanoseconds(0));
  for (const auto& name : names)
    metrics.record_published(slot_with(nanoseconds(0), nanoseconds(0), {{name, nanoseconds(1)}}), nanoseconds(1));
  EXPECT_EQ(metrics.snapshot({}).distributions.size(), 3 + PipelineMetrics::most_stages);
}

TEST(RateMeter, NeedsTimeToPass) {
  RateMeter meter;
  EXPECT_EQ(meter.advance(5, milliseconds(10)), 0.0);
  EXPECT_EQ(meter.advance(9, milliseconds(10)), 0.0);
  EXPECT_DOUBLE_EQ(meter.advance(10, milliseconds(510)), 10.0);
}

}  // namespace
}  // namespace echoform
