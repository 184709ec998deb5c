// Durations in logarithmic buckets, recorded without locks or allocation.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace echoform {

/// Nanoseconds from 0 to 2^40 (18 minutes; longer ones count as that). Every power of two is cut into 64 buckets, so a
/// bucket's width is at most 1/64 (1.6 %) of its lower edge; below 64 ns buckets are exact.
namespace log_buckets {
inline constexpr std::size_t per_octave = 64;
inline constexpr unsigned first_octave = 6;  // 2^6 = per_octave
inline constexpr unsigned last_octave = 39;
inline constexpr std::size_t count = per_octave * (1 + last_octave - first_octave + 1);

[[nodiscard]] constexpr std::size_t index(std::uint64_t value) {
  constexpr std::uint64_t highest = (std::uint64_t{1} << (last_octave + 1)) - 1;
  if (value > highest) value = highest;
  if (value < per_octave) return static_cast<std::size_t>(value);
  const unsigned octave = static_cast<unsigned>(std::bit_width(value)) - 1;
  const std::size_t step = static_cast<std::size_t>(value >> (octave - first_octave)) - per_octave;
  return per_octave * (1 + octave - first_octave) + step;
}
[[nodiscard]] constexpr std::uint64_t lower(std::size_t index) {
  if (index < per_octave) return index;
  const std::size_t octave = index / per_octave - 1;
  return static_cast<std::uint64_t>(per_octave + index % per_octave) << octave;
}
/// First value above the bucket.
[[nodiscard]] constexpr std::uint64_t upper(std::size_t index) {
  return lower(index + 1);
}
}  // namespace log_buckets

/// Counts that were read from a histogram, or the difference of two readings.
struct HistogramCounts {
  std::vector<std::uint64_t> counts = std::vector<std::uint64_t>(log_buckets::count);
  std::uint64_t total = 0;  ///< of counts
  std::uint64_t sum = 0;    ///< nanoseconds; may run ahead of the counts by what is being recorded

  /// The value below which the part `fraction` (0 .. 1) of the records lies: the middle of its bucket, so within 0.8 %.
  /// 0 where there are none.
  [[nodiscard]] std::uint64_t quantile(double fraction) const;
  /// Records of at most `value`, up to the bucket that holds it.
  [[nodiscard]] std::uint64_t at_most(std::uint64_t value) const;
};

class Histogram {
 public:
  /// Records a duration; any thread may call it. Negative durations count as 0.
  void record(std::chrono::nanoseconds duration) noexcept;
  void read(HistogramCounts& into) const;
  /// Longest duration since the last take_maximum().
  [[nodiscard]] std::chrono::nanoseconds maximum() const noexcept { return std::chrono::nanoseconds(maximum_.load()); }
  [[nodiscard]] std::chrono::nanoseconds take_maximum() noexcept { return std::chrono::nanoseconds(maximum_.exchange(0)); }

 private:
  std::array<std::atomic<std::uint64_t>, log_buckets::count> counts_{};
  std::atomic<std::uint64_t> sum_{0};
  std::atomic<std::int64_t> maximum_{0};
};

}  // namespace echoform
