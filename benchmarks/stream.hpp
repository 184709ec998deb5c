// What the whole pipeline sustains: simulated source -> loopback TCP -> imaging -> ZeroMQ -> subscriber.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/statistics.hpp"
#include "benchmarks/turns.hpp"
#include "pipeline/backend.hpp"
#include "pipeline/pipeline.hpp"
#include "simulators/fmc_simulator.hpp"

namespace echoform::benchmarks {

struct StreamCase {
  SimulatorConfiguration simulator;
  SetupFactory setup;
  BackendChoice backend{false, BackendKind::cpu};
  std::size_t memory_limit = std::size_t{16} << 30;  ///< of slots and engine, bytes
  std::vector<std::size_t> connections{1};           ///< full speed is measured on each of these numbers, the rest on the last
  double hold = 10.0;                                ///< seconds that a rate must be held without a drop
  std::size_t engine_frames = 50;                    ///< of a round of the engine alone
  double bare_seconds = 1.0;                         ///< of a round of bare sockets, in steady state; at most `hold`
  std::size_t rounds = 5;                            ///< trials at full speed, bare sockets and the engine alone, in turn
  double full_speed_seconds = 2.0;                   ///< of a trial at full speed; at most `hold`
  /// Bytes of device memory in use, where the backend has such; else empty.
  std::function<std::size_t()> device_bytes;
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
  /// Device memory in use once frames flow, and after the last frame of the trial.
  std::size_t device_bytes_before = 0;
  std::size_t device_bytes_after = 0;
  /// Whether the rate was held: nothing was lost, and the source was not held back, but kept the requested rate to 1 %.
  [[nodiscard]] bool held() const { return dropped == 0 && missed == 0 && published_per_second >= 0.99 * rate; }
};

/// Full speed over some connections, and in turn with each trial what bare sockets carry of the same frames from the same sender,
/// into a ring of the same kind of memory on as many threads, and what the engine alone images of frames in memory.
struct StreamLink {
  std::size_t connections = 1;
  std::vector<StreamTrial> full_speed;  ///< round by round
  Turns turns;                          ///< "bare" frames, "pipeline" and "engine" images a second, in the order of measurement
};

struct StreamReport {
  std::size_t frame_bytes = 0;
  std::size_t imaged_samples = 0;   ///< of an A-scan: the setup's gate
  Spread engine_images_per_second;  ///< limit: the engine alone on frames in memory, over all rounds
  std::vector<StreamLink> links;
  std::vector<StreamTrial> search;
  double sustained = 0.0;  ///< highest rate held, 0 if none was
  StreamTrial at_80_percent;
  std::size_t pipeline_bytes = 0;   ///< slots and engine
  std::size_t resident_before = 0;  ///< of this process, after the first frames and
  std::size_t resident_after = 0;   ///< at the end of the last trial
};

[[nodiscard]] StreamReport measure_stream(const StreamCase& test, const std::function<void(const std::string&)>& progress);

}  // namespace echoform::benchmarks
