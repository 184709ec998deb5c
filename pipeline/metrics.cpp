#include "pipeline/metrics.hpp"

#include <algorithm>

namespace echoform {
namespace {

constexpr std::array<std::string_view, 3> frame_names = {"frame_latency", "first_byte_to_published", "interframe"};

std::chrono::nanoseconds quantile_of(const HistogramCounts& counts, double fraction, std::chrono::nanoseconds longest) {
  // The middle of the last bucket may lie above the maximum recorded.
  return std::min(std::chrono::nanoseconds(static_cast<std::int64_t>(counts.quantile(fraction))), longest);
}

}  // namespace

double RateMeter::advance(std::uint64_t total, SteadyTime now) noexcept {
  const double seconds = std::chrono::duration<double>(now - time_).count();
  const double rate = started_ && seconds > 0.0 ? static_cast<double>(total - total_) / seconds : 0.0;
  if (!started_ || seconds > 0.0) {
    total_ = total;
    time_ = now;
    started_ = true;
  }
  return rate;
}

PipelineMetrics::PipelineMetrics(SteadyTime start) : window_start_(start) {
  for (RateMeter* meter : {&input_, &output_, &input_bytes_}) meter->advance(0, start);
}

void PipelineMetrics::record_published(const FrameSlot& slot, SteadyTime published) noexcept {
  distributions_[0].histogram.record(published - slot.last_byte_time);
  distributions_[1].histogram.record(published - slot.first_byte_time);
  if (!first_of_stream_.exchange(false, std::memory_order_relaxed)) {
    distributions_[2].histogram.record(published - last_published_);
  }
  last_published_ = published;
  for (const StageTiming& timing : slot.timings) record_stage(timing);
}

void PipelineMetrics::record_stage(const StageTiming& timing) noexcept {
  const std::size_t known = count_.load(std::memory_order_relaxed);
  std::size_t index = frame_distributions;
  while (index < known && distributions_[index].stage != timing.stage) ++index;
  if (index == known) {
    // More kinds of stages than the recipes of any method have; further ones are left out.
    if (known == capacity) return;
    distributions_[index].stage = timing.stage;
    count_.store(known + 1, std::memory_order_release);
  }
  distributions_[index].histogram.record(timing.duration);
}

MetricsSnapshot PipelineMetrics::close_window(SteadyTime now, const CounterSnapshot& counters) {
  const std::lock_guard lock(mutex_);
  if (now > window_start_) {
    window_ = std::chrono::duration<double>(now - window_start_).count();
    window_start_ = now;
    input_rate_ = input_.advance(counters.frames_received, now);
    output_rate_ = output_.advance(counters.frames_published, now);
    input_bytes_rate_ = input_bytes_.advance(counters.bytes_received, now);
    const std::size_t known = count_.load(std::memory_order_acquire);
    HistogramCounts current;
    for (std::size_t i = 0; i < known; ++i) {
      Distribution& distribution = distributions_[i];
      distribution.histogram.read(current);
      HistogramCounts& start = distribution.at_window_start;
      for (std::size_t k = 0; k < current.counts.size(); ++k) start.counts[k] = current.counts[k] - start.counts[k];
      start.total = current.total - start.total;
      start.sum = current.sum - start.sum;
      DistributionSnapshot& window = distribution.window;
      window.maximum = distribution.histogram.take_maximum();
      distribution.longest = std::max(distribution.longest, window.maximum);
      window.window_count = start.total;
      window.p50 = quantile_of(start, 0.50, window.maximum);
      window.p99 = quantile_of(start, 0.99, window.maximum);
      window.mean = start.total == 0 ? 0.0 : static_cast<double>(start.sum) / static_cast<double>(start.total);
      std::swap(start, current);
    }
  }
  return read(counters);
}

MetricsSnapshot PipelineMetrics::snapshot(const CounterSnapshot& counters) const {
  const std::lock_guard lock(mutex_);
  return read(counters);
}

MetricsSnapshot PipelineMetrics::read(const CounterSnapshot& counters) const {
  MetricsSnapshot snapshot;
  snapshot.counters = counters;
  snapshot.window = window_;
  snapshot.input_rate = input_rate_;
  snapshot.output_rate = output_rate_;
  snapshot.input_bytes_rate = input_bytes_rate_;
  const std::size_t known = count_.load(std::memory_order_acquire);
  snapshot.distributions.reserve(known);
  HistogramCounts total;
  for (std::size_t i = 0; i < known; ++i) {
    const Distribution& distribution = distributions_[i];
    DistributionSnapshot& entry = snapshot.distributions.emplace_back(distribution.window);
    entry.stage = distribution.stage;
    entry.name = i < frame_distributions ? std::string(frame_names[i]) : "stage_" + entry.stage;
    distribution.histogram.read(total);
    entry.count = total.total;
    entry.sum = 1e-9 * static_cast<double>(total.sum);
    for (std::size_t k = 0; k < bucket_edges.size(); ++k) {
      entry.at_most[k] = total.at_most(static_cast<std::uint64_t>(bucket_edges[k] * 1e9 + 0.5));
    }
    entry.total_maximum = std::max(distribution.longest, distribution.histogram.maximum());
    entry.total_p50 = quantile_of(total, 0.50, entry.total_maximum);
    entry.total_p99 = quantile_of(total, 0.99, entry.total_maximum);
  }
  return snapshot;
}

}  // namespace echoform
