// Conversion of complex lines with a vestige of the other sideband to analytic signals.
//
// The spectrum of a wide band reaches down to 0 Hz, where positive and negative frequencies meet. A filter that keeps the
// positive ones leaves, next to 0 Hz, a part of each. Sums with delays that change along a line also convert a little of
// either into the other. This stage corrects both once the line is complete: near 0 Hz the imaginary part becomes the
// Hilbert transform of the real part, which holds all that was received (the demodulation of a vestigial sideband).
//
// Input   complex64 [lines, samples], interleaved, any row stride, 3 <= samples <= 2^28.
// Output  complex64 [lines, samples], interleaved, rows padded with zeros to a multiple of 16: of a row's periodic DFT X[m],
//
//     Y[m] = X[m] + conj(X[-m]),  Y[-m] = 0    for 1 <= m <= bins
//     Y[0] = Re X[0]
//     Y[m] = X[m]                              elsewhere
//
//         so that the real part stays as it is: on the CPU bit for bit, on CUDA to rounding. With every bin it is the analytic
//         signal of the real part. Lines may have as few samples as their band needs, from a vestige below 0 Hz on: frequencies
//         beyond the bins are one sideband's.
#pragma once

#include <cstddef>
#include <memory>

#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

struct SingleSidebandOptions {
  std::size_t bins = 1;  ///< of the DFT on either side of 0, 1 to (samples - 1) / 2

  [[nodiscard]] friend bool operator==(const SingleSidebandOptions&, const SingleSidebandOptions&) = default;
};

/// The kind of the stage "single-sideband", whose options are SingleSidebandOptions. On CUDA it does not state cuFFT's
/// workspace, whose size only plans report.
extern const StageKind single_sideband_stage;

/// The stage runs on queues of at most `members` threads; prepare() throws InputError if an option is out of its range.
[[nodiscard]] std::unique_ptr<Stage> make_single_sideband_cpu(const SingleSidebandOptions& options, std::size_t members,
                                                              SimdLevel level = simd_level());

/// The stage runs on the GPU, by cuFFT. Only builds with CUDA have this function. The backend must outlive the stage.
[[nodiscard]] std::unique_ptr<Stage> make_single_sideband_cuda(const SingleSidebandOptions& options, Backend& backend);

/// The checks of options and input that every implementation makes, and the resulting output. Throws InputError.
[[nodiscard]] BlockSpec single_sideband_output(const SingleSidebandOptions& options, const BlockSpec& input);

}  // namespace echoform
