// Autocorrelation of ensembles of repeated soundings, which measures motion: the power, and the phase rotation from one
// sample to the next.
//
// Input   complex64 or planar complex64 [lines * M, ranges], any row stride: of line l the M samples of its ensemble, rows
//         l M ... l M + M - 1.
// Output  float32 [lines * 3, ranges], rows padded with zeros to a multiple of 16. Of line l, at each range,
//
//     row 3 l      R0 = mean over n < M of |a[n]|^2
//     row 3 l + 1  Re R1,  R1 = mean over n < M - 1 of a[n + 1] conj a[n]
//     row 3 l + 2  Im R1
//
//         each averaged over the ranges within `half_window` on both sides, as far as the row has them. (C. Kasai et al., IEEE
//         Trans. Sonics Ultrason. 32(3), 458, 1985.) All sums are in single precision, those over n in their
//         order, those over ranges from the middle outwards.
#pragma once

#include <cstddef>
#include <memory>

#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"

namespace echoform {

struct AutocorrelationOptions {
  static constexpr std::size_t most_half_window = 1024;

  std::size_t ensemble = 0;     ///< M, at least 2
  std::size_t half_window = 0;  ///< ranges on each side, at most most_half_window

  [[nodiscard]] friend bool operator==(const AutocorrelationOptions&, const AutocorrelationOptions&) = default;
};

/// The kind of the stage "autocorrelation", whose options are AutocorrelationOptions. It holds nothing on CUDA.
extern const StageKind autocorrelation_stage;

/// The stage runs on queues of at most `members` threads. Throws InputError if an option is out of its range.
[[nodiscard]] std::unique_ptr<Stage> make_autocorrelation_cpu(const AutocorrelationOptions& options, std::size_t members,
                                                              SimdLevel level = simd_level());

/// The stage gives the same bits on the GPU. Only builds with CUDA have this function. Throws InputError if an option is out
/// of its range.
[[nodiscard]] std::unique_ptr<Stage> make_autocorrelation_cuda(const AutocorrelationOptions& options);

/// Rows of a line: R0, Re R1, Im R1.
inline constexpr std::size_t autocorrelation_planes = 3;

/// The checks of options and input that every implementation makes, and the resulting output. Both functions throw
/// InputError.
void check_autocorrelation(const AutocorrelationOptions& options);
[[nodiscard]] BlockSpec autocorrelation_output(const AutocorrelationOptions& options, const BlockSpec& input);

}  // namespace echoform
