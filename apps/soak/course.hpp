// The course of a soak: figures a second, floors a block, latencies a block, and what they come to.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "apps/soak/server_process.hpp"
#include "apps/soak/slope.hpp"
#include "base/histogram.hpp"

namespace echoform::soak {

/// A figure of the server's process over the run.
struct Trend {
  std::string_view name;
  std::string_view unit;
  double scale = 1.0;  ///< figures in this unit, of the process's
  double grain = 0.0;  ///< of judge_growth()
  double first = 0.0;  ///< floor of the first block after the warm-up
  double last = 0.0;
  double most = 0.0;  ///< of all readings
  Growth growth{};    ///< per hour
  std::size_t blocks = 0;
};

struct LatencyFigures {
  double p50 = 0.0, p90 = 0.0, p99 = 0.0, maximum = 0.0;  ///< ms
};

/// Latencies, in ms, of the values recorded since `before` (of all values where `before` is empty). Sets `before` to the
/// present counts.
[[nodiscard]] LatencyFigures latency_figures(const Histogram& histogram, HistogramCounts& before);

class Course {
 public:
  /// Blocks have 10 s, and longer ones in runs of so many seconds that there would be more than 1000.
  explicit Course(double seconds);

  void add(double seconds, const ProcessFigures& figures);
  void add_latency(double seconds, const LatencyFigures& figures);
  /// What came before counts as warm-up: caches fill, allocators find their size.
  void begin(double seconds);
  [[nodiscard]] bool begun() const { return begun_ >= 0.0; }

  /// Memory, descriptors and threads. Of each block only the floor counts: what faults borrow for a while raises the readings in
  /// between, what is lost for good raises the floor.
  [[nodiscard]] std::vector<Trend> trends() const;
  /// Drift of the blocks' medians and 99th percentiles, ms per hour.
  [[nodiscard]] std::array<Slope, 2> latency_drift() const;

 private:
  struct Block {
    double seconds = 0.0;
    std::array<double, 3> floors{};
  };
  const double block_;
  double begun_ = -1.0;
  std::vector<Block> blocks_;
  std::size_t readings_in_block_ = 0;
  std::array<double, 3> most_{};
  std::vector<double> latency_places_;
  std::array<std::vector<double>, 2> latencies_;
};

}  // namespace echoform::soak
