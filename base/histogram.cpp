#include "base/histogram.hpp"

#include <algorithm>
#include <cmath>

namespace echoform {

std::uint64_t HistogramCounts::quantile(double fraction) const {
  if (total == 0) return 0;
  const double wanted = std::ceil(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(total));
  const std::uint64_t rank = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(wanted));
  std::uint64_t below = 0;
  for (std::size_t index = 0; index < counts.size(); ++index) {
    below += counts[index];
    if (below >= rank) return (log_buckets::lower(index) + log_buckets::upper(index) - 1) / 2;
  }
  return log_buckets::lower(counts.size() - 1);
}

std::uint64_t HistogramCounts::at_most(std::uint64_t value) const {
  std::uint64_t sum_of_counts = 0;
  for (std::size_t index = 0; index < counts.size() && log_buckets::upper(index) - 1 <= value; ++index) {
    sum_of_counts += counts[index];
  }
  return sum_of_counts;
}

void Histogram::record(std::chrono::nanoseconds duration) noexcept {
  const std::int64_t value = std::max<std::int64_t>(0, duration.count());
  counts_[log_buckets::index(static_cast<std::uint64_t>(value))].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(static_cast<std::uint64_t>(value), std::memory_order_relaxed);
  std::int64_t longest = maximum_.load(std::memory_order_relaxed);
  while (value > longest && !maximum_.compare_exchange_weak(longest, value, std::memory_order_relaxed)) {
  }
}

void Histogram::read(HistogramCounts& into) const {
  into.counts.resize(log_buckets::count);
  into.total = 0;
  for (std::size_t index = 0; index < log_buckets::count; ++index) {
    into.counts[index] = counts_[index].load(std::memory_order_relaxed);
    into.total += into.counts[index];
  }
  into.sum = sum_.load(std::memory_order_relaxed);
}

}  // namespace echoform
