// How long raw samples take to become analytic signals: the half matrix, and the analytic signal by each route and in each
// form of its output, against the copy bandwidth that the same run measured.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "benchmarks/statistics.hpp"
#include "benchmarks/turns.hpp"
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

struct HilbertFigure {
  std::string name;      ///< "half matrix", "fused, half path", "half matrix and cuFFT, float path" ...
  Spread seconds;        ///< a frame
  double bytes = 0.0;    ///< that must at least be read and written between device memory and chip
  Spread seconds_floor;  ///< bytes at the bandwidth of the copies that took turns with it
  Spread ratio;          ///< floor to seconds, of measurements next to each other
  Turns turns;           ///< seconds of a frame's "work" and of a "copy", in the order of measurement
};

/// `turns` has "work" and "copy" of `copied` bytes, read plus written.
[[nodiscard]] HilbertFigure hilbert_figure(std::string name, Turns turns, double bytes, double copied);

struct HilbertReport {
  /// Read plus written, of a copy within the backend's memory as large as the frame; over all turns.
  double copy_bytes_per_second = 0.0;
  std::vector<HilbertFigure> stages;  ///< each alone
  std::vector<HilbertFigure> chains;  ///< from raw samples to analytic signals, one after the other
};

/// `progress` is told what is being measured. RuntimeFault if the backend is CUDA and there is no GPU.
[[nodiscard]] HilbertReport measure_hilbert(const HilbertCase& test, const std::function<void(const std::string&)>& progress);

}  // namespace echoform::benchmarks
