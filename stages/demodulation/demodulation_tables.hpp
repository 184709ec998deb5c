// The tables that demodulation computes once, for every backend.
#pragma once

#include <cstddef>
#include <vector>

#include "stages/demodulation/demodulation.hpp"

namespace echoform {

/// Order of samples in memory by phase, p = n mod D, so that the samples of a tap for the kept samples 0, 1, 2 ... follow
/// each other: sample m D + p is at p pitch + lead + m. Before the first kept sample and after the last there are `lead`
/// more samples.
struct PhaseLayout {
  std::size_t half = 0;  ///< of the filter, L
  std::size_t lead = 0;
  std::size_t pitch = 0;  ///< of phases

  /// The layout for `kept` kept samples.
  PhaseLayout(const DemodulationOptions& options, std::size_t kept);
};

/// Tables by tap, j = -L ... L.
struct DemodulationTaps {
  std::vector<std::ptrdiff_t> offsets;  ///< of the sample j behind kept sample 0
  std::vector<float> cosines;           ///< 2 h[-j] cos(2 pi fd j / rate)
  std::vector<float> sines;             ///< -2 h[-j] sin(2 pi fd j / rate)
};
[[nodiscard]] DemodulationTaps demodulation_taps(const DemodulationOptions& options, const PhaseLayout& layout);

/// The phase factor exp(-j 2 pi fd t) of each kept sample.
struct DemodulationTurns {
  std::vector<float> cosines;
  std::vector<float> sines;
};
[[nodiscard]] DemodulationTurns demodulation_turns(const DemodulationOptions& options, std::size_t kept);

/// Number of taps of demodulation_filter(), without computing the filter.
[[nodiscard]] std::size_t demodulation_tap_count(const DemodulationOptions& options);

/// Bytes that the stage holds on the CPU for rows of `samples`, with scratch for `members` threads.
[[nodiscard]] std::size_t demodulation_bytes_cpu(const DemodulationOptions& options, std::size_t samples, std::size_t members);

/// Whether a stage with options `own`, prepared for rows of `samples`, can go on with `wanted`: they differ in gains alone.
[[nodiscard]] bool accepts_gain(const DemodulationOptions& own, DemodulationOptions wanted, std::size_t samples);

}  // namespace echoform
