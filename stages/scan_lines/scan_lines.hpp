// Receive beamforming along scan lines: the A-scans of each transmit event are summed along each of its lines. The sum is
// focused at every range, and delays are computed on the fly.
//
// Input   raw or float32 [a_scans, samples], any row stride: the samples of the gate.
// Output  float32 [lines, ranges], rows padded with zeros to a multiple of 16. At range r of a line, with p = origin + r *
// direction,
//
//     sum over receivers j of w_j(r) s_j(tau_tx + |p - e_j| / c)   [/ sum of w_j(r), with `normalise`]
//
//         Samples lie between those of the A-scan as `filter` has it. Places outside of the A-scan count as 0, and their weights
//         count; where weights sum to less than 1e-30 the sum is 0. Raw samples are multiplied by the scale first, and with a
//         time gain by its value at their place. With adaptive weights (stages/adaptive_weights/adaptive_weights.hpp) it is the
//         sum times a factor, or an amplitude, without `normalise` times the sum of the weights, or an image: of such the rows
//         are without gaps. Their axial window goes along the line. Analytic signals are the rows' own, by the periodic DFT of
//         the samples of the gate.
// Its facts are the quality of raw samples.
//
// With `demodulated`, samples are complex ones of baseband, b(t) as stages/demodulation/ makes them:
//
// Input   complex64 [a_scans, samples], interleaved, any row stride.
// Output  complex64 [lines, ranges], interleaved, rows padded with zeros to a multiple of 16: the same sum of
//         b_j(tau) exp(+j 2 pi fd tau), tau = tau_tx + |p - e_j| / c from emission. The delay filter has both parts alike; phases
//         are right to 1e-4 rad.
//
// tau_tx is a table of the line set; tau_rx follows from the geometry: with e = e_j - origin and a = e . direction,
// |p - e_j| - r = (|e|^2 - 2 r a) / (sqrt((r - a)^2 + |e|^2 - a^2) + r), which single precision holds to 1e-7 of what it is,
// while tau_tx + r / c is kept as a whole sample and its rest, from double precision. (Eq. 13 of the thesis on beamforming on the
// GPU using CUDA, of the Tesla C870, is the case of a phased array whose waves pass its centre at t = 0.)
//
// CUDA supports the adaptive weights that have an implementation there (AdaptiveKind::on_cuda). A trailer with the facts of
// the frame (stages/raw_rows/frame_facts.hpp) follows lines of raw samples; its peak is that of the lines.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/units.hpp"
#include "cpu/cpu_backend.hpp"
#include "pipeline/sample_gate.hpp"
#include "pipeline/stage.hpp"
#include "stages/adaptive_weights/adaptive_weights.hpp"
#include "stages/scan_lines/delay_filter.hpp"
#include "stages/scan_lines/line_set.hpp"

namespace echoform {

struct ScanLinesOptions {
  std::shared_ptr<const LineSet> lines;
  MetresPerSecond velocity;  ///< of the waves that return, > 0
  Hertz sample_rate;         ///< > 0
  Seconds start_time;        ///< of the A-scan's sample 0, less the time offset
  SampleGate gate;           ///< samples of the A-scan that the input holds
  DelayFilterOptions filter;
  bool normalise = true;
  AdaptiveOptions adaptive;
  std::optional<Hertz> demodulated;                     ///< fd of complex samples, > 0; none: samples are real
  double sample_scale = 1.0;                            ///< amplitude of one unit of a raw sample: finite, not 0
  std::shared_ptr<const std::vector<float>> time_gain;  ///< gain by sample of the gate, for raw input; null: none

  /// Two shared pointers count as equal if what they point to is equal.
  friend bool operator==(const ScanLinesOptions& a, const ScanLinesOptions& b);
};

/// The kind of the stage "scan-lines", whose options are ScanLinesOptions.
extern const StageKind scan_lines_stage;

/// The stage runs on queues of at most `members` threads. Throws InputError if an option is out of its range.
[[nodiscard]] std::unique_ptr<Stage> make_scan_lines_cpu(ScanLinesOptions options, std::size_t members,
                                                         SimdLevel level = simd_level());

/// Only builds with CUDA have this function. The backend must outlive the stage. Throws InputError if an option is out of
/// its range, and for adaptive weights that CUDA does not support.
[[nodiscard]] std::unique_ptr<Stage> make_scan_lines_cuda(ScanLinesOptions options, Backend& backend);

/// The checks of options and input that every implementation makes, and the resulting output. Both functions throw
/// InputError.
void validate(const ScanLinesOptions& options);
[[nodiscard]] BlockSpec scan_lines_output(const ScanLinesOptions& options, const BlockSpec& input,
                                          BackendKind backend = BackendKind::cpu);
/// Further checks of the stage on CUDA. Throws InputError.
void require_lines_on_cuda(const ScanLinesOptions& options);
/// Maximum of device memory that the stage on CUDA takes, in bytes.
[[nodiscard]] std::size_t scan_lines_device_bytes(const ScanLinesOptions& options, const BlockSpec& input);
/// Host memory that the stage on the CPU takes, in bytes.
[[nodiscard]] std::size_t scan_lines_bytes(const ScanLinesOptions& options, std::size_t members);

}  // namespace echoform
