// A temporal filter by itself: rows of real samples to rows of real samples. Where analytic signals are wanted next, their stage
// takes the filter along on its own way through the spectrum and costs less (stages/analytic_signal/analytic_signal.hpp).
//
// Input   float32 [rows, samples], any row stride, 2 <= samples <= 2^28.
// Output  float32 [rows, samples], rows padded with zeros to a multiple of 16 samples; no trailer. A row counts as one period:
// the
//         response wraps round its ends, as far as response_size() says. Exact to single rounding (about 2e-7 of the row's norm,
//         times the filter's greatest factor), for every length; the kind `none` gives the rows themselves, bit for bit.
#pragma once

#include <memory>

#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"
#include "stages/filter/filter_options.hpp"

namespace echoform {

/// The kind of the stage "filter", whose options are FilterOptions. States what the CPU takes at its set-up too, when it is
/// most; on CUDA all but the memory in which cuFFT works, which is known of plans alone.
extern const StageKind filter_stage;

/// The stage runs on queues of at most `members` threads. Throws InputError if an option is out of its range.
[[nodiscard]] std::unique_ptr<Stage> make_filter_cpu(FilterOptions options, std::size_t members, SimdLevel level = simd_level());

/// Only builds with CUDA have this function. The backend must outlive the stage. Throws InputError if an option is out of
/// its range.
[[nodiscard]] std::unique_ptr<Stage> make_filter_cuda(FilterOptions options, Backend& backend);

/// What every implementation asks of its options and its input, and the output that comes of it. Throws InputError.
[[nodiscard]] BlockSpec filter_output(const FilterOptions& options, const BlockSpec& input);

/// Most that spectra may take on CUDA; larger frames go in pieces. Bytes.
inline constexpr std::size_t filter_spectra_bytes = std::size_t{256} << 20;

}  // namespace echoform
