// Sums along scan lines on a GPU: against the time in which the echoes arrive, and against the copy of the samples. In builds
// with CUDA code.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "benchmarks/scan_lines.hpp"

namespace echoform::benchmarks {

struct LinesOnGpu {
  std::size_t events = 0;    ///< of a launch on the device
  Spread real_time;          ///< times the time that the events' echoes take to arrive, samples on the device
  Spread lookups;            ///< a second
  std::size_t uploaded = 0;  ///< events of an upload
  Spread uploads_real_time;  ///< the same, samples uploaded from pinned memory while those before are summed
  Spread copies;             ///< of as many samples alone, times real time
  Spread ratio;              ///< with uploads, of the copies alone
};

[[nodiscard]] LinesOnGpu measure_lines_on_gpu(const LinesCase& test, const DelayFilterOptions& filter, std::size_t of_event);

/// Adaptive weights, one line an event, samples on the device.
struct AdaptiveLinesOnGpu {
  Spread real_time;  ///< as above
  Spread cost;       ///< times what the plain sum takes
};

/// Over a window of one period, of eight samples, where the kind has one.
[[nodiscard]] AdaptiveLinesOnGpu measure_adaptive_lines_on_gpu(const LinesCase& test, const DelayFilterOptions& filter,
                                                               std::string_view kind);

}  // namespace echoform::benchmarks
