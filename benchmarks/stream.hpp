// What the whole pipeline sustains: simulated source -> loopback TCP -> imaging -> ZeroMQ -> subscriber.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/statistics.hpp"
#include "pipeline/pipeline.hpp"
#include "simulators/fmc_simulator.hpp"

namespace echoform::benchmarks {

struct StreamCase {
  SimulatorConfiguration simulator;
  PlanFactory plan;
  std::size_t connections = 1;
  std::size_t threads = 0;         ///< of the CPU backend; 0: all
  double hold = 10.0;              ///< seconds that a rate must be held without a drop
  std::size_t engine_frames = 50;  ///< of the engine-alone limit
};

/// One trial at a rate, or at full speed (rate 0) with the sender blocked when all slots are taken.
struct StreamTrial {
  double rate = 0.0;
  double published_per_second = 0.0;  ///< distinct sequences that the subscriber saw, over the time between first and last
  std::uint64_t dropped = 0;          ///< by the pipeline, for whatever reason
  std::uint64_t missed = 0;           ///< sequences that the subscriber did not get
  double latency_p50 = 0.0;           ///< seconds, last byte to published
  double latency_p99 = 0.0;
  bool closes = false;  ///< received = published + dropped + in flight
  /// Without a loss, and the source was not held back either: it kept the rate that it was asked for to 1 %.
  [[nodiscard]] bool held() const { return dropped == 0 && missed == 0 && published_per_second >= 0.99 * rate; }
};

struct StreamReport {
  double engine_images_per_second = 0.0;  ///< limit: the engine alone on frames in memory
  StreamTrial full_speed;
  std::vector<StreamTrial> search;
  double sustained = 0.0;  ///< highest rate held, 0 if none was
  StreamTrial at_80_percent;
  std::size_t pipeline_bytes = 0;   ///< slots and engine
  std::size_t resident_before = 0;  ///< of this process, after the first frames and
  std::size_t resident_after = 0;   ///< at the end of the last trial
};

[[nodiscard]] StreamReport measure_stream(const StreamCase& test, const std::function<void(const std::string&)>& progress);

}  // namespace echoform::benchmarks
