// How fast the beamform stage of the CUDA backend is, alone, on random data: against ceilings of the device that are measured
// in the same run, with the error of its images against a direct sum in double precision of the same data before any rounding.
#pragma once

#include <cstddef>
#include <string>

#include "benchmarks/array_case.hpp"
#include "benchmarks/statistics.hpp"

namespace echoform::benchmarks {

/// What no kernel that looks samples up in shared memory can pass, each a second, over the whole device. Computed: from the
/// highest clock, 128 bytes of shared memory and four instructions of 32 threads a cycle and multiprocessor.
struct DeviceCeilings {
  std::string device;
  Spread loads_8;       ///< of 8 bytes from shared memory: one lookup of the half path
  Spread loads_16;      ///< of 16 bytes: one lookup of the float path
  Spread instructions;  ///< of a thread
  double computed_loads_8 = 0.0;
  double computed_loads_16 = 0.0;
  double computed_instructions = 0.0;
};
[[nodiscard]] DeviceCeilings measure_ceilings(std::size_t rounds = 5);

struct TfmGpuReport {
  ArrayCase measured;
  bool half_path = false;
  double lookups = 0.0;  ///< a frame, all views, only those within the A-scan
  Spread seconds;        ///< a frame, all views
  Spread lookups_per_second;
  double relative_error = 0.0;  ///< L2, of the worst view's image
  std::size_t stage_bytes = 0;  ///< tables and scratch of the stages
};

/// The stage of each view, one after the other on one stream, over a whole half matrix. FULL cases take it half_summed, which
/// asks for reciprocal views.
[[nodiscard]] TfmGpuReport measure_tfm_gpu(const ArrayCase& test, std::size_t rounds);

}  // namespace echoform::benchmarks
