// The filter test of a thesis on receive beamforming with CUDA (its section 2.6.4): what a fractional delay does to a signal that
// many elements receive at evenly distributed delays, when these are taken back and the elements summed.
//
// Its steps: a reference of pulses with random times and amplitudes; the same at `delays` delays evenly between 0 and -1 sample;
// white noise to each; the filter takes the delays back; the mean of all; its root of power over that of its difference from the
// reference (equation 5, an amplitude ratio). Where the thesis makes the reference on a fine grid and thins it out, this one is a
// Fourier series of a whole number of samples: every delayed sample is exact, nothing wraps, no thinning filter adds to the
// error, and by Parseval the prediction of it is exact too. Besides the train there is a tone, a train of no bandwidth: of the
// one frequency that the column states.
//
// The filters run in double precision on their tables of floats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/stage_turns.hpp"
#include "stages/scan_lines/delay_filter.hpp"

namespace echoform::benchmarks {

struct DelayFilterCase {
  std::vector<DelayFilterOptions> filters;
  std::vector<double> frequencies;  ///< cycles a sample, above 0 and below 0.5
  std::size_t samples = 1000;  ///< of the reference, 64 or more; frequencies are rounded to a whole number of cycles in these
  std::size_t delays = 100;    ///< no divisor of 512 phases, so that what lies between two of them counts too
  double noise = 0.1;          ///< root mean square of the white noise, over that of the signal
  double bandwidth = 0.6;      ///< of the train's pulses: between half the amplitudes, over the frequency
  std::size_t pulses = 40;     ///< of the train
  std::uint32_t seed = 1;
};

/// Amplitude ratios of the signal and its error.
struct DelayFilterRatios {
  double measured = 0.0;
  double predicted = 0.0;  ///< |Hm| / |1 - Hm|, Hm the mean response of the table over all delays
};

struct DelayFilterFigures {
  double frequency = 0.0;       ///< as it was rounded
  DelayFilterRatios tone;       ///< without noise
  DelayFilterRatios noisy;      ///< the tone with noise; of the prediction, that of the noise is its gain over the delays
  DelayFilterRatios train;      ///< without noise; the prediction weighted by the train's own spectrum
  DelayFilterRatios rms_error;  ///< of the tone, delay by delay: no ratio to its inverse, but the error over the signal
  std::optional<double> ideal;  ///< the ratio in closed form, where there is one
};

struct DelayFilterReport {
  std::string name;  ///< "windowed_sinc 8, beta 5"
  DelayFilterOptions options;
  double noise_gain = 0.0;                  ///< of power, the mean over all delays
  std::vector<DelayFilterFigures> figures;  ///< one a frequency
};

/// The family as it stands side by side: every kind, the sizes that people choose among.
[[nodiscard]] std::vector<DelayFilterOptions> compared_delay_filters();

/// Throws InputError if a filter's options are out of their ranges.
[[nodiscard]] std::vector<DelayFilterReport> measure_delay_filters(const DelayFilterCase& test, const Progress& progress);

/// The frequency above which the sum of a truncated sinc (a window of beta 0) is better than that of Lagrange's filter with
/// as many taps, 4 or 6. It is the highest frequency at which both are equal, in cycles per sample, to 1e-3.
[[nodiscard]] double truncated_sinc_passes_lagrange(std::size_t taps);

/// Largest difference of what single precision makes of white noise from the formulas in double precision, over the largest
/// value: as the thesis verifies its kernels (Table 2).
struct DelayFilterDeviations {
  double linear = 0.0;
  double upsampled = 0.0;         ///< the samples of the upsampled rows, 11 taps
  double upsampled_linear = 0.0;  ///< linear between them
};
[[nodiscard]] DelayFilterDeviations measure_delay_filter_deviations();

}  // namespace echoform::benchmarks
