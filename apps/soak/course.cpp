#include "apps/soak/course.hpp"

#include <algorithm>
#include <cmath>

namespace echoform::soak {
namespace {

constexpr double shortest_block = 10.0;
constexpr double most_blocks = 1000.0;

// glibc's arenas grow and shrink by 128 KiB. Two such steps do not count as growth, in whatever order they come.
constexpr double memory_grain = 2.0 * 128.0 * 1024.0;
// A whole number grows by at least one.
constexpr double count_grain = 0.5;

}  // namespace

LatencyFigures latency_figures(const Histogram& histogram, HistogramCounts& before) {
  HistogramCounts now;
  histogram.read(now);
  HistogramCounts since = now;
  for (std::size_t k = 0; k < since.counts.size(); ++k) since.counts[k] -= before.counts[k];
  since.total -= before.total;
  before = std::move(now);
  const auto at = [&](double fraction) { return 1e-6 * static_cast<double>(since.quantile(fraction)); };
  return {at(0.5), at(0.9), at(0.99), at(1.0)};
}

Course::Course(double seconds) : block_(std::max(shortest_block, seconds / most_blocks)) {}

void Course::add(double seconds, const ProcessFigures& figures) {
  const std::array<double, 3> values{figures.memory, figures.descriptors, figures.threads};
  for (std::size_t k = 0; k < values.size(); ++k) most_[k] = std::max(most_[k], values[k]);
  if (begun_ < 0.0) return;
  // The clock determines the block, so that blocks that follow one without a reading keep their places.
  const double place = begun_ + std::floor((seconds - begun_) / block_) * block_;
  if (blocks_.empty() || place > blocks_.back().seconds) {
    blocks_.push_back({place, values});
    readings_in_block_ = 1;
    return;
  }
  ++readings_in_block_;
  for (std::size_t k = 0; k < values.size(); ++k) {
    blocks_.back().floors[k] = std::min(blocks_.back().floors[k], values[k]);
  }
}

void Course::add_latency(double seconds, const LatencyFigures& figures) {
  if (begun_ < 0.0) return;
  latency_places_.push_back(seconds / 3600.0);
  latencies_[0].push_back(figures.p50);
  latencies_[1].push_back(figures.p99);
}

void Course::begin(double seconds) {
  begun_ = seconds;
}

std::vector<Trend> Course::trends() const {
  std::vector<Trend> trends{
      {"memory", "KiB", 1.0 / 1024.0, memory_grain}, {"descriptors", "", 1.0, count_grain}, {"threads", "", 1.0, count_grain}};
  // A block that is still short has had little time to reach its floor.
  const std::size_t blocks = blocks_.size() - (blocks_.empty() || readings_in_block_ > 5 ? 0 : 1);
  for (std::size_t k = 0; k < trends.size(); ++k) {
    Trend& trend = trends[k];
    std::vector<double> places, values;
    for (std::size_t i = 0; i < blocks; ++i) {
      places.push_back(blocks_[i].seconds / 3600.0);
      values.push_back(blocks_[i].floors[k] * trend.scale);
    }
    trend.grain *= trend.scale;
    trend.most = most_[k] * trend.scale;
    trend.blocks = blocks;
    if (blocks == 0) continue;
    trend.first = values.front();
    trend.last = values.back();
    trend.growth = judge_growth(places, values, trend.grain);
  }
  return trends;
}

std::array<Slope, 2> Course::latency_drift() const {
  return {theil_sen(latency_places_, latencies_[0]), theil_sen(latency_places_, latencies_[1])};
}

}  // namespace echoform::soak
