// Conversion of real A-scans to baseband: in phase and quadrature, at the sample rate that their band needs.
//
// Input   raw or float32 [a_scans, samples], any row stride: s[n] at t = start_time + n / sample_rate, t from emission.
// Output  complex64 [a_scans, ceil(samples / D)], interleaved, rows padded to a multiple of 16 (the padding is 0):
//
//     b[m] = sum over k of h[k] 2 s[m D - k] exp(-j 2 pi fd t[m D - k]),  at t = start_time + m D / sample_rate
//
//         with fd the demodulation frequency, D the decimation and h[k] = g[k] exp(+j 2 pi filter_offset k / sample_rate), g the
//         low-pass of demodulation_filter(); samples outside of the row count as 0. The phase is absolute: b(t) exp(+j 2 pi fd t)
//         is the analytic signal of what lies within `pass` of fd + filter_offset. A band whose lower edge is 0 Hz, half way
//         between pass and stop, has a vestige of the other sideband: both together are the signal's (vestigial sideband). Raw
//         samples are multiplied by the scale first, and with a time gain by its value at their place. Only samples that are kept
//         are worked out.
// The facts of the stage are the quality of raw samples.
#pragma once

#include <memory>
#include <vector>

#include "base/units.hpp"
#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

struct DemodulationOptions {
  static constexpr std::size_t most_decimation = 64;
  static constexpr std::size_t most_taps = 4095;

  Hertz frequency;             ///< fd, above 0 and below half the sample rate
  Hertz sample_rate;           ///< > 0
  Seconds start_time;          ///< of the first sample of a row
  std::size_t decimation = 1;  ///< D, 1 to most_decimation
  Hertz filter_offset;         ///< middle of the pass band less fd; the middle, too, lies between 0 and half the sample rate
  Hertz pass;                  ///< > 0; distance from the middle up to which the filter passes everything unchanged
  Hertz stop;                  ///< > pass, at most half the sample rate; distance from which on the filter passes nothing
  double sample_scale = 1.0;   ///< amplitude of one unit of a raw sample: finite, not 0
  std::shared_ptr<const std::vector<float>> time_gain;  ///< gain by sample, for raw input only; null: none

  /// Two shared pointers count as equal if what they point to is equal.
  friend bool operator==(const DemodulationOptions& a, const DemodulationOptions& b);
};

/// The kind of the stage "demodulation", whose options are DemodulationOptions.
extern const StageKind demodulation_stage;

/// The stage runs on queues of at most `members` threads. Throws InputError if an option is out of its range.
[[nodiscard]] std::unique_ptr<Stage> make_demodulation_cpu(DemodulationOptions options, std::size_t members,
                                                           SimdLevel level = simd_level());

/// The stage gives the same bits on the GPU; `backend` is a CUDA backend and must outlive the stage. Only builds with CUDA
/// have this function.
[[nodiscard]] std::unique_ptr<Stage> make_demodulation_cuda(DemodulationOptions options, Backend& backend);

/// Attenuation of the stop band and ripple of the pass band (1 +- 10^(-60 / 20) = 1 +- 0.001: 0.009 dB).
inline constexpr double demodulation_attenuation = 60.0;  // dB

/// g[k], k = -L ... L: a sinc of the frequency half way between pass and stop in a Kaiser window, designed as in Kaiser
/// (1974): beta = 0.1102 (A - 8.7), 2 L >= (A - 7.95) / (2.285 2 pi (stop - pass) / sample_rate); its sum is 1. The options
/// are valid.
[[nodiscard]] std::vector<double> demodulation_filter(const DemodulationOptions& options);

/// The checks of options and input that every implementation makes, and the resulting output. Both functions throw
/// InputError.
void validate(const DemodulationOptions& options);
[[nodiscard]] BlockSpec demodulation_output(const DemodulationOptions& options, const BlockSpec& input);

}  // namespace echoform
