// A temporal filter as a stage of its own: rows of real samples become rows of real samples. Where analytic signals follow,
// their stage can apply the filter in its own spectrum, which costs less (stages/analytic_signal/analytic_signal.hpp).
//
// Input   float32 [rows, samples], any row stride, 2 <= samples <= 2^28.
// Output  float32 [rows, samples], rows padded with zeros to a multiple of 16 samples; no trailer. A row counts as one
//         period: the response wraps round its ends, as far as response_size() states. Exact to single rounding (about 2e-7
//         of the row's norm, times the filter's greatest factor), for every length; the kind `none` gives the rows
//         themselves, bit for bit.
#pragma once

#include <memory>

#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"
#include "stages/filter/filter_options.hpp"

namespace echoform {

/// The kind of the stage "filter", whose options are FilterOptions. For the CPU it states the memory that is taken at
/// set-up, which is the maximum. For CUDA it leaves out cuFFT's workspace, whose size only plans report.
extern const StageKind filter_stage;

/// The stage runs on queues of at most `members` threads. Throws InputError if an option is out of its range.
[[nodiscard]] std::unique_ptr<Stage> make_filter_cpu(FilterOptions options, std::size_t members, SimdLevel level = simd_level());

/// Only builds with CUDA have this function. The backend must outlive the stage. Throws InputError if an option is out of
/// its range.
[[nodiscard]] std::unique_ptr<Stage> make_filter_cuda(FilterOptions options, Backend& backend);

/// The checks of options and input that every implementation makes, and the resulting output. Throws InputError.
[[nodiscard]] BlockSpec filter_output(const FilterOptions& options, const BlockSpec& input);

/// Maximum of spectra on CUDA, in bytes. Larger frames are processed in pieces.
inline constexpr std::size_t filter_spectra_bytes = std::size_t{256} << 20;

}  // namespace echoform
