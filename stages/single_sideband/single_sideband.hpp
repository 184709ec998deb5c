// Complex lines with a vestige of the other sideband to analytic signals.
//
// What is received of a wide band reaches down to 0 Hz, where its positive and its negative frequencies meet. A filter that keeps
// the positive ones leaves, next to 0 Hz, a part of each; and sums with delays that change along a line turn a little of either
// into the other. Both are put right where the line is whole: near 0 Hz the imaginary part becomes the Hilbert transform of the
// real part, which holds all that was received (the demodulation of a vestigial sideband).
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

/// The kind of the stage "single-sideband", whose options are SingleSidebandOptions. On CUDA it states none of the memory in
/// which cuFFT works, which is known of plans alone.
extern const StageKind single_sideband_stage;

/// The stage runs on queues of at most `members` threads; prepare() throws InputError if an option is out of its range.
[[nodiscard]] std::unique_ptr<Stage> make_single_sideband_cpu(const SingleSidebandOptions& options, std::size_t members,
                                                              SimdLevel level = simd_level());

/// In builds with CUDA only, by cuFFT. The backend must outlive the stage.
[[nodiscard]] std::unique_ptr<Stage> make_single_sideband_cuda(const SingleSidebandOptions& options, Backend& backend);

/// What every implementation asks of its options and its input, and the output that comes of it. Throws InputError.
[[nodiscard]] BlockSpec single_sideband_output(const SingleSidebandOptions& options, const BlockSpec& input);

}  // namespace echoform
