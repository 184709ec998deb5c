// Removes echoes of tissue that stands still, or nearly so, from ensembles: repeated soundings of the same lines.
//
// Input   complex64 or planar complex64 [lines * N, ranges], any row stride: rows
//         l N ... l N + N - 1 are the N samples of line l's ensemble, in the order in which they were taken.
// Output  planar complex64, on CUDA complex64, [lines * M, ranges], rows padded with zeros to a multiple of 16: at each range
//
//     y[m] = sum over n of A[m][n] x[n]
//
//   regression   A = I - Q Q', Q an orthonormal basis of the polynomials in n up to `order`: what is left of the ensemble once
//                the polynomial that fits it best is subtracted. M = N. (H. Torp, IEEE Trans. UFFC 44(6), 1303, 1997.)
//   fir          y[m] = sum over k of h[k] x[m + K - 1 - k], K taps. Outputs that would need earlier samples are left out, so
//                M = N - K + 1. Without `taps`, h is (1 - z^-1)^order / 2^order: a delay-line canceller applied `order`
//                times. An echo whose phase rotates by pi from sample to sample keeps its strength.
//   svd          A = I - V V', V the `components` left singular vectors of the frame's samples [N, lines * ranges] with
//                the greatest singular values. They are found anew for each frame, from all of its lines and ranges. M = N.
//                (C. Demene et al., IEEE Trans. Med. Imaging 34(11), 2271, 2015.) The vectors are those of the N by N matrix
//                of the products of samples, which is summed in double precision, in an order that does not depend on the
//                number of threads.
//
// Sums over n go in their order, in single precision. Samples that are not finite spoil their own range, and with svd the
// whole frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/interval.hpp"
#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

enum class WallFilterKind : std::uint8_t { none, regression, fir, svd };

struct WallFilterOptions {
  static constexpr std::size_t least_ensemble = 2;
  static constexpr std::size_t most_ensemble = 128;

  WallFilterKind kind = WallFilterKind::regression;
  std::size_t ensemble = 0;       ///< N, least_ensemble .. most_ensemble
  std::size_t order = 1;          ///< of the polynomial, or of the canceller: at most N - 2
  std::vector<double> taps = {};  ///< h of fir, at most N - 1 taps, finite; empty: those of the canceller
  std::size_t components = 1;     ///< of svd, at least 1, at most N - 1

  [[nodiscard]] friend bool operator==(const WallFilterOptions&, const WallFilterOptions&) = default;
};

/// The kind of the stage "wall-filter", whose options are WallFilterOptions. On CUDA its output is interleaved.
extern const StageKind wall_filter_stage;

/// The stage runs on queues of at most `members` threads. Throws InputError if an option is out of its range.
[[nodiscard]] std::unique_ptr<Stage> make_wall_filter_cpu(WallFilterOptions options, std::size_t members,
                                                          SimdLevel level = simd_level());

/// The stage runs on the GPU, with complex64 output. It gives the same bits as the CPU except with svd, whose sums over
/// ranges have another order, which is always the same. `backend` is a CUDA backend and must outlive the stage. Only builds
/// with CUDA have this function. Throws InputError if an option is out of its range.
[[nodiscard]] std::unique_ptr<Stage> make_wall_filter_cuda(WallFilterOptions options, Backend& backend);

/// The checks of the input that every implementation makes, and the resulting output. The options must be valid. Throws
/// InputError.
[[nodiscard]] BlockSpec wall_filter_output(const WallFilterOptions& options, const BlockSpec& input, BackendKind backend);

/// Sizes of svd on CUDA: the number of parts of a frame in which products of samples are summed, and the largest ensemble
/// whose matrix is kept in shared memory while its directions are found. Matrices of larger ensembles are in device memory.
inline constexpr std::size_t clutter_parts = 128;
inline constexpr std::size_t clutter_in_shared_memory = 32;
/// Bytes that the stage holds on CUDA.
[[nodiscard]] std::size_t wall_filter_device_bytes(const WallFilterOptions& options);

/// The number M of output samples of an ensemble.
[[nodiscard]] std::size_t filtered_ensemble(const WallFilterOptions& options);
/// The matrix A, [M][N]. The options must be valid. For svd, whose A follows from the samples, and for none it is the identity.
[[nodiscard]] std::vector<double> wall_filter_matrix(const WallFilterOptions& options);
/// The mean over the ensemble of |y|^2, where x[n] = exp(j 2 pi n f): the remaining power of an echo whose phase rotates by
/// `f` cycles from sample to sample. The options must be valid.
[[nodiscard]] double wall_filter_gain(const WallFilterOptions& options, double f);
/// The smallest f up to 1/2 from which on half of the power remains; 0 where that holds from f = 0 on, 1/2 where it never
/// holds.
[[nodiscard]] double wall_filter_cutoff(const WallFilterOptions& options);

/// Throws InputError if an option is out of its range.
void validate(const WallFilterOptions& options);

}  // namespace echoform
