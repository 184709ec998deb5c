// The part of measure_scan() (benchmarks/scan.hpp) that runs on the GPU. In builds with CUDA code.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "benchmarks/scan.hpp"
#include "stages/polar_scan_conversion/polar_scan_conversion.hpp"

namespace echoform::benchmarks {

/// A copy that is too large for caches.
class LargeGpuCopy {
 public:
  LargeGpuCopy();
  ~LargeGpuCopy();
  LargeGpuCopy(const LargeGpuCopy&) = delete;
  LargeGpuCopy& operator=(const LargeGpuCopy&) = delete;
  /// Bytes read and written a second, of one copy.
  [[nodiscard]] double bytes_per_second() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Measurements for each interpolation, cubic first. `data` is [beams, samples]. Adds the rates of `large_copy`, which takes
/// turns with the other measurements, to `large_rates`.
[[nodiscard]] std::vector<ScanOnGpu> measure_scan_on_gpu(const PolarScanConversionOptions& options,
                                                         const std::vector<std::uint8_t>& data, std::size_t rounds,
                                                         const LargeGpuCopy& large_copy, std::vector<double>& large_rates);

}  // namespace echoform::benchmarks
