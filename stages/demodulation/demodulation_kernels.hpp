// The loop of demodulation.
#pragma once

#include <cstddef>

#include "cpu/cpu_backend.hpp"

namespace echoform {

/// Number of kept samples that are summed at a time.
inline constexpr std::size_t demodulation_block = 32;

/// One A-scan, whose samples are sorted by phase (PhaseLayout): the samples of a tap for the kept samples 0, 1, 2 ... follow
/// each other from samples[offsets[tap]] on.
struct DemodulationTask {
  const float* samples;
  const std::ptrdiff_t* offsets;  ///< by tap
  const float* cosines;           ///< by tap: 2 g[-j] cos(2 pi f j / rate), for the sample j behind the kept one;
                                  ///< f the middle of the pass band
  const float* sines;             ///< by tap: -2 g[-j] sin(2 pi f j / rate)
  std::size_t taps;
  const float* turn_cosines;  ///< by kept sample: cos(2 pi fd t)
  const float* turn_sines;    ///< by kept sample: -sin(2 pi fd t)
  std::size_t count;          ///< kept samples, a multiple of demodulation_block
  float* out;                 ///< re, im, re, im ...
};

using DemodulationKernel = void (*)(const DemodulationTask& task);

/// All levels give the same bits.
[[nodiscard]] DemodulationKernel demodulation_kernel(SimdLevel level);

void demodulate_row_portable(const DemodulationTask& task);
void demodulate_row_avx2(const DemodulationTask& task);
void demodulate_row_avx512(const DemodulationTask& task);

}  // namespace echoform
