// The throughput and the delays of the pipeline: distributions and rates, as telemetry and /metrics show them.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/histogram.hpp"
#include "pipeline/counters.hpp"
#include "pipeline/frame_slot.hpp"

namespace echoform {

/// Upper edges of the cumulative buckets in seconds: 1, 2, 5 in every decade from 10 us to 10 s.
inline constexpr std::array<double, 19> bucket_edges = {1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2,
                                                        2e-2, 5e-2, 1e-1, 2e-1, 5e-1, 1.0,  2.0,  5.0,  10.0};

struct DistributionSnapshot {
  std::string name;   ///< "frame_latency", "first_byte_to_published", "interframe", "stage_beamform" ...
  std::string stage;  ///< "beamform" where it is a stage's duration, else empty

  // Over the last closed window; all 0 where nothing was recorded in it.
  std::uint64_t window_count = 0;
  std::chrono::nanoseconds p50{0};
  std::chrono::nanoseconds p99{0};
  std::chrono::nanoseconds maximum{0};
  double mean = 0.0;  ///< nanoseconds

  // Since the start.
  std::uint64_t count = 0;
  double sum = 0.0;                                          ///< seconds
  std::array<std::uint64_t, bucket_edges.size()> at_most{};  ///< records of at most bucket_edges[k], to 1.6 %
  std::chrono::nanoseconds total_p50{0};
  std::chrono::nanoseconds total_p99{0};
  std::chrono::nanoseconds total_maximum{0};
};

/// One reading for telemetry (windowed figures) and Prometheus (cumulative ones).
struct MetricsSnapshot {
  std::vector<DistributionSnapshot> distributions;  ///< the frame's three first, then stages in their order
  double window = 0.0;                              ///< length of the last closed window in seconds; 0 before the first
  double input_rate = 0.0;                          ///< frames received per second of it
  double output_rate = 0.0;                         ///< frames published per second of it
  double input_bytes_rate = 0.0;                    ///< bytes received per second of it
  CounterSnapshot counters;                         ///< totals, read together
};

/// Rate of a growing total between two readings.
class RateMeter {
 public:
  /// Per second since the last call; 0 at the first call and where no time has passed.
  double advance(std::uint64_t total, SteadyTime now) noexcept;

 private:
  bool started_ = false;
  std::uint64_t total_ = 0;
  SteadyTime time_{0};
};

/// Recording takes no lock and allocates nothing. Reading may be done from any thread.
class PipelineMetrics {
 public:
  /// The maximum number of stages that are distinguished by name, over all streams; further ones are left out. 36 KiB each.
  static constexpr std::size_t most_stages = 32;

  /// The rates of the first window count from `start`.
  explicit PipelineMetrics(SteadyTime start);

  /// Records a published frame. Called from one thread at a time.
  void record_published(const FrameSlot& slot, SteadyTime published) noexcept;
  /// The next frame is the first of its stream: the time since the one before is no interval.
  void stream_opened() noexcept { first_of_stream_.store(true, std::memory_order_relaxed); }

  /// Ends the window that telemetry shows (one caller, once a second) and reads.
  [[nodiscard]] MetricsSnapshot close_window(SteadyTime now, const CounterSnapshot& counters);
  /// Reads without ending the window.
  [[nodiscard]] MetricsSnapshot snapshot(const CounterSnapshot& counters) const;

 private:
  static constexpr std::size_t frame_distributions = 3;
  static constexpr std::size_t capacity = frame_distributions + most_stages;

  struct Distribution {
    std::string_view stage;  // written before count_ shows it
    Histogram histogram;
    // Guarded by mutex_:
    HistogramCounts at_window_start;
    DistributionSnapshot window;  // windowed figures of the last closed one
    std::chrono::nanoseconds longest{0};
  };
  void record_stage(const StageTiming& timing) noexcept;
  [[nodiscard]] MetricsSnapshot read(const CounterSnapshot& counters) const;  // mutex_ held

  std::array<Distribution, capacity> distributions_;
  std::atomic<std::size_t> count_{frame_distributions};
  std::atomic<bool> first_of_stream_{true};
  SteadyTime last_published_{0};  // the recording thread's

  mutable std::mutex mutex_;
  RateMeter input_, output_, input_bytes_;
  SteadyTime window_start_;
  double window_ = 0.0, input_rate_ = 0.0, output_rate_ = 0.0, input_bytes_rate_ = 0.0;
};

}  // namespace echoform
