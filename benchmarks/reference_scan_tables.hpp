// A second plain loop against which the polar scan conversion's speed is quoted: one that has worked out the geometry before, as
// ours has, where the first loop (reference_scan.hpp) does so for every image. FROZEN: the figures in docs/performance.md are
// ratios to exactly this code with exactly these flags, so neither may be improved or worsened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "benchmarks/reference_scan.hpp"

namespace echoform::reference {

/// Where a pixel finds its samples.
struct PolarScanEntry {
  std::int32_t sample = -1;                     ///< the sample before; -1 outside of the sector
  std::int32_t beam = 0;                        ///< the beam before
  float fraction = 0.0F;                        ///< of a sample beyond `sample`
  float weights[4] = {0.0F, 0.0F, 0.0F, 0.0F};  ///< of the beams beam - 1 .. beam + 2
};

/// [z, x], from the same expressions in single precision as polar_scan_loop()'s.
[[nodiscard]] std::vector<PolarScanEntry> polar_scan_tables(const PolarScan& scan);

/// The image of polar_scan_loop(), from tables; OpenMP over rows on `threads` threads.
void polar_scan_tables_loop(const PolarScan& scan, const PolarScanEntry* tables, const std::uint8_t* data, std::uint8_t* image,
                            int threads);

}  // namespace echoform::reference
