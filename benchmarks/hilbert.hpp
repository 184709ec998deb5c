// How long raw samples take to become analytic signals: the half matrix, and the analytic signal by each route and in each
// form of its output, against the copy bandwidth that the same run measured.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "benchmarks/stage_turns.hpp"
#include "pipeline/backend.hpp"

namespace echoform::benchmarks {

/// A full matrix of random int16 samples, reduced to its half.
struct HilbertCase {
  std::size_t elements = 128;
  std::size_t samples = 4096;
  std::size_t frames = 20;  ///< timed, after two that are not
  BackendKind backend = BackendKind::cpu;
  std::size_t threads = 0;  ///< of the CPU; 0: all that this process may use
};

struct HilbertReport {
  /// Read plus written, of a copy within the backend's memory as large as the frame; over all turns.
  double copy_bytes_per_second = 0.0;
  std::vector<StageTime> stages;  ///< each alone
  std::vector<StageTime> chains;  ///< from raw samples to analytic signals, one after the other
};

/// Calls `progress` with the name of each measurement. RuntimeFault if the backend is CUDA and there is no GPU.
[[nodiscard]] HilbertReport measure_hilbert(const HilbertCase& test, const std::function<void(const std::string&)>& progress);

}  // namespace echoform::benchmarks
