// How fast the beamform stage of the CUDA backend is, alone, on random data: against ceilings of the device that are measured
// in turn with it, with the error of its images against a direct sum in double precision of the same data before any rounding.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "benchmarks/array_case.hpp"
#include "benchmarks/statistics.hpp"
#include "benchmarks/turns.hpp"

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

/// The beamform stage of each view, one after the other on one stream, over a whole half matrix of random samples that is on the
/// device already. FULL cases take it half_summed, which asks for reciprocal views; of waves, over those that all elements
/// record.
class TfmOnGpu {
 public:
  explicit TfmOnGpu(const ArrayCase& test);
  ~TfmOnGpu();
  TfmOnGpu(const TfmOnGpu&) = delete;
  TfmOnGpu& operator=(const TfmOnGpu&) = delete;

  /// Seconds of a frame, all views, as DeviceTimer measures them.
  [[nodiscard]] double seconds();
  /// Ceilings measured on the same stream. The first is the seconds that as many loads from shared memory take as a frame
  /// has lookups, each of the bytes that this data path reads for a lookup. The second is the number of instructions of a
  /// thread that the device can issue per second.
  [[nodiscard]] double ceiling_seconds();
  [[nodiscard]] double instructions_per_second();

  [[nodiscard]] bool half_path() const;
  /// A frame, all views, only those within the A-scan; by the direct sum in double precision.
  [[nodiscard]] double lookups() const;
  /// L2, of the worst view's image, against that sum.
  [[nodiscard]] double relative_error() const;
  /// Tables and scratch of the stages.
  [[nodiscard]] std::size_t stage_bytes() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

struct TfmGpuReport {
  bool half_path = false;
  double lookups = 0.0;
  Spread seconds;
  Spread lookups_per_second;
  double relative_error = 0.0;
  std::size_t stage_bytes = 0;
  /// "lookups" a second, "loads" from shared memory and "instructions" of a thread that the device can do a second, in turn.
  Turns turns;
};

[[nodiscard]] TfmGpuReport measure_tfm_gpu(const ArrayCase& test, std::size_t rounds);

}  // namespace echoform::benchmarks
