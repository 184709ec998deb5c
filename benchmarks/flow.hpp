// How long images of flow take from ensembles that lie in the backend's memory: wall filter, autocorrelation, velocity, power and
// variance, each alone and one after the other, against the copy bandwidth that the same run measured.
#pragma once

#include <cstddef>
#include <vector>

#include "benchmarks/stage_turns.hpp"
#include "pipeline/backend.hpp"

namespace echoform::benchmarks {

/// Ensembles [line, sample, range] of random flow below tissue a hundred times as strong that hardly moves; complex64 as the
/// backend's analytic signals are.
struct FlowCase {
  std::size_t lines = 256;
  std::size_t ranges = 256;
  std::size_t ensemble = 16;
  std::size_t half_window = 2;  ///< ranges on each side that autocorrelations are averaged over
  std::size_t frames = 50;      ///< timed, after two that are not
  BackendKind backend = BackendKind::cpu;
  std::size_t threads = 0;  ///< of the CPU; 0: all that this process may use
};

struct FlowReport {
  /// Read plus written, of a copy within the backend's memory of the ensembles; over all turns.
  double copy_bytes_per_second = 0.0;
  std::vector<StageTime> stages;  ///< each alone, by the bytes that it must read and write
  /// From ensembles to velocities, and to all three images: by the bytes of the ensembles and of the images alone.
  std::vector<StageTime> chains;
};

/// RuntimeFault if the backend is CUDA and there is no GPU.
[[nodiscard]] FlowReport measure_flow(const FlowCase& test, const Progress& progress);

}  // namespace echoform::benchmarks
