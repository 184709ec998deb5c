// The part of measure_scan() (benchmarks/scan.hpp) that runs on the GPU. In builds with CUDA code.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/scan.hpp"
#include "stages/polar_scan_conversion/polar_scan_conversion.hpp"

namespace echoform::benchmarks {

/// Bytes read and written a second by a copy that is too large for caches.
[[nodiscard]] double measure_gpu_copy();

/// By interpolation, cubic first. `data` is [beams, samples].
[[nodiscard]] std::vector<ScanOnGpu> measure_scan_on_gpu(const PolarScanConversionOptions& options,
                                                         const std::vector<std::uint8_t>& data, std::size_t rounds,
                                                         double copy_bandwidth);

}  // namespace echoform::benchmarks
